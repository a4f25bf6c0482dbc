//! `llsd fix`, and `llsd check --fix`.

use super::*;

#[test]
fn fix_changes_files_and_keeps_comments() {
    let folder = Folder::new("fix");
    let broken = CLEAN.replace("workers", "wokrers").replace('\n', "\r\n");
    folder.write("a.yaml", &broken);
    folder.write("b.yaml", CLEAN);
    let ran = folder.llsd(&["fix", "--dry-run", "a.yaml"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "would fix a.yaml: Rename \"wokrers\" to \"workers\"\n1 resource in 1 file: nothing wrong\n")
    );
    assert_eq!(folder.read("a.yaml"), broken);
    let ran = folder.llsd(&["fix", "."]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("fixed a.yaml: Rename \"wokrers\" to \"workers\"\n"), "{}", ran.out);
    assert!(ran.out.ends_with("2 resources in 2 files: nothing wrong\n"), "{}", ran.out);
    assert_eq!(folder.read("a.yaml"), CLEAN.replace('\n', "\r\n"));
    assert_eq!(folder.read("b.yaml"), CLEAN);

    folder.write("a.yaml", &broken);
    let ran = folder.llsd(&["check", "--fix", "a.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1 resource in 1 file: nothing wrong\n"));
}

#[test]
fn fix_says_what_remains() {
    let folder = Folder::new("fix-remains");
    folder.write("a.yaml", CLEAN.replace("workers", "wokrers").replace("provider: vllm", "provider: vlm-of-ours"));
    let ran = folder.llsd(&["fix", "a.yaml"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("fixed a.yaml: "), "{}", ran.out);
    assert!(ran.out.contains("unknown-type") && ran.out.ends_with("1 resource in 1 file: 1 error\n"), "{}", ran.out);
}

#[test]
fn fix_reaches_files_that_were_named() {
    let folder = Folder::new("fix-across");
    folder.write("stack.yaml", OVERRIDE);
    folder.write("sub/config.yaml", CONFIG_MAP);
    let ran = folder.llsd(&["fix", "stack.yaml"]);
    assert!(!ran.out.contains("fixed"), "the other file was not named: {}", ran.out);
    let title = "Rename run.yaml of ConfigMap \"config\" in config.yaml to config.yaml\n";
    let dry = folder.llsd(&["fix", "--dry-run", "."]);
    assert!(dry.out.starts_with(&format!("would fix sub/config.yaml: {title}")), "{}", dry.out);
    assert_eq!(dry.code, 0, "{}", dry.out);
    assert_eq!(folder.read("sub/config.yaml"), CONFIG_MAP);
    assert_eq!(folder.llsd(&["check", "."]).code, 1);
    let ran = folder.llsd(&["check", "--fix", "."]);
    assert_eq!((ran.code, ran.err), (0, format!("fixed sub/config.yaml: {title}")));
    assert_eq!(folder.read("sub/config.yaml"), CONFIG_MAP.replace("run.yaml", "config.yaml"));
    assert_eq!(folder.read("stack.yaml"), OVERRIDE);
    // in one file, too
    let both = folder.write("both.yaml", format!("{OVERRIDE}---\n{CONFIG_MAP}"));
    assert!(folder.llsd(&["fix", &both]).out.contains("Rename run.yaml of ConfigMap \"config\" to config.yaml"));
    assert!(folder.read("both.yaml").contains("  config.yaml: | # by hand\n"));
}
