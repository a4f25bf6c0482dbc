//! What a team agrees on: `llsd.toml`, comments, a baseline, one way to format.

use super::*;

const TYPO: &str = "startr";

fn faulty() -> String {
    CLEAN.replace("starter", TYPO)
}

#[test]
fn a_project_decides_for_the_files_below_it() {
    let folder = Folder::new("project");
    folder.write("llsd.toml", "exclude = [\"old/\"]\n[severity]\n\"llsd::distribution::*\" = \"hint\"\n");
    folder.write("a.yaml", faulty());
    folder.write("old/b.yaml", faulty().replace("minimal", "old"));
    let ran = folder.llsd(&["check", "."]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(
        ran.out.starts_with("hint[llsd::distribution::unknown]") && ran.out.contains("1 resource in 1 file: 1 hint"),
        "{}",
        ran.out
    );
    let ran = folder.llsd(&["check", "old/b.yaml"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.starts_with("llsd: left out old/b.yaml: ") && ran.err.contains("llsd.toml says so"), "{}", ran.err);
    // what is not wanted is not mended either
    folder.write("llsd.toml", "[severity]\n\"llsd::schema::*\" = \"off\"\n");
    folder.write("c/c.yaml", CLEAN.replace("workers", "wokrers"));
    let ran = folder.llsd(&["fix", "c"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1 resource in 1 file: nothing wrong\n"));
}

#[test]
fn a_project_that_cannot_be_used_is_told_with_its_place() {
    let folder = Folder::new("project-fault");
    folder.write("llsd.toml", "\nexlude = []\n");
    folder.write("a.yaml", CLEAN);
    let ran = folder.llsd(&["check", "--format", "json", "a.yaml"]);
    assert_eq!(ran.code, 2);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let reason = report["unreadable"][0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("line 2, column 1: unknown field `exlude`"), "{reason}");
    assert!(ran.err.contains("llsd.toml: line 2, column 1"), "{}", ran.err);
}

#[test]
fn the_version_of_a_project_counts() {
    let folder = Folder::new("project-version");
    let text = CLEAN.replace("name: starter", "image: example.com/stack:own");
    folder.write(
        "a.yaml",
        text.replace("endpoint: http://vllm:8000/v1", "settings: {base_url: \"http://vllm:8000/v1\"}"),
    );
    let before = folder.llsd(&["check", "--format", "json", "a.yaml"]);
    folder.write("llsd.toml", "llama-stack-version = \"0.3.5\"\n");
    let after = folder.llsd(&["check", "--format", "json", "a.yaml"]);
    assert_ne!(findings(&before), findings(&after));
}

#[test]
fn the_schema_of_a_project_names_its_keys() {
    let schema: Value = serde_json::from_str(&llsd(&["schema", "llsd.toml"]).out).expect("JSON");
    let keys: Vec<&String> = schema["properties"].as_object().expect("keys").keys().collect();
    assert_eq!(keys, ["llama-stack-version", "include", "exclude", "bases", "severity"]);
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn a_baseline_hides_what_is_known_wherever_it_moves() {
    let folder = Folder::new("baseline");
    folder.write("a.yaml", faulty());
    let known = folder.llsd(&["check", "--baseline", "known.json", "--write-baseline", "."]);
    assert_eq!((known.code, known.err.as_str()), (0, "llsd: known.json knows 1 findings now\n"));
    // lines above, and a further mistake
    folder.write("a.yaml", format!("# a\n\n# b\n{}", faulty().replace("workers", "wokrers")));
    let ran = folder.llsd(&["check", "--baseline", "known.json", "--format", "json", "a.yaml"]);
    let rules: Vec<_> = findings(&ran).iter().map(|found| found["rule"].clone()).collect();
    assert_eq!((ran.code, rules), (1, vec![json!("llsd::schema::unknown-field")]));
    assert_eq!(ran.err, "llsd: 1 findings are known to known.json\n");
    folder.write("a.yaml", CLEAN);
    let ran = folder.llsd(&["check", "--baseline", "known.json", "a.yaml"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("1 findings that known.json knows are found no more"), "{}", ran.err);
    let ran = folder.llsd(&["check", "--baseline", "other.json", "a.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    folder.write("other.json", "{\"version\": 7, \"findings\": []}");
    assert_eq!(folder.llsd(&["check", "--baseline", "other.json", "a.yaml"]).code, 2);
}

#[test]
fn one_way_to_format() {
    let folder = Folder::new("fmt");
    let loose = CLEAN.replace("  name: minimal", "    name: minimal   ");
    folder.write("a.yaml", &loose);
    folder.write("b.yaml", CLEAN);
    folder.write("other.yaml", "kind: Deployment\nmetadata:\n    name: x   \n");
    let ran = folder.llsd(&["fmt", "--check", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "would format a.yaml\n"));
    let ran = folder.llsd(&["fmt", "--diff", "."]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("-    name: minimal   \n+  name: minimal\n"), "{}", ran.out);
    assert_eq!(folder.read("a.yaml"), loose);
    let ran = folder.llsd(&["fmt", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "formatted a.yaml\n"));
    assert_eq!(folder.read("a.yaml"), CLEAN);
    assert_eq!(llsd_reads(&["fmt", "-"], loose.as_bytes()).out, CLEAN);
}

#[test]
fn what_was_not_checked_is_said() {
    let folder = Folder::new("unchecked");
    folder.write("a.yaml", format!("{CLEAN}---\nkind: Service\nmetadata: {{name: s}}\n"));
    folder.write("b.yaml", CLEAN.replace("minimal", "b").replace("name: starter", "image: example.com/stack:own"));
    folder.write("c.yaml", "kind: Deployment\n");
    let ran = folder.llsd(&["check", "a.yaml", "b.yaml", "c.yaml"]);
    assert!(ran.out.contains("2 resources in 3 files: ") && ran.out.contains("; 1 file has none"), "{}", ran.out);
    let ran = folder.llsd(&["check", "--show-unchecked", "a.yaml", "c.yaml"]);
    for place in ["a.yaml:15:1", "c.yaml:1:1"] {
        assert!(ran.out.contains(&format!("--> {place}\n")), "{}", ran.out);
    }
    let ran = folder.llsd(&["check", "--format", "json", "a.yaml", "b.yaml", "gone.yaml"]);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        report["unchecked"][0]["reason"],
        "a document of kind Service is neither a LlamaStackDistribution, an OGXServer nor a config"
    );
    assert_eq!(report["unreadable"], json!([{"file": "gone.yaml", "reason": "no such file"}]));
    let rules: Vec<_> =
        report["unchecked"].as_array().expect("a list").iter().filter(|one| !one["rule"].is_null()).collect();
    assert!(!rules.is_empty(), "the base config of an image is not known: {report:#}");
    let sarif = folder.llsd(&["check", "--format", "sarif", "b.yaml", "gone.yaml"]);
    let sarif: Value = serde_json::from_str(&sarif.out).expect("JSON");
    let told = &sarif["runs"][0]["invocations"][0];
    assert_eq!(told["executionSuccessful"], false);
    assert_eq!(told["toolExecutionNotifications"][0]["message"]["text"], "cannot read gone.yaml: no such file");
    // a file that is not there is no file in which nothing is wrong
    let ran = folder.llsd(&["check", "gone.yaml"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (2, "", "llsd: cannot read gone.yaml: no such file\n"));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_holds_nobody_up() {
    let folder = Folder::new("pipe");
    folder.write("a.yaml", CLEAN);
    let made = std::process::Command::new("mkfifo").arg(folder.0.join("b.yaml")).status().expect("mkfifo runs");
    assert!(made.success());
    let ran = folder.llsd(&["check", "."]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.err, "llsd: cannot read b.yaml: no regular file\n");
    assert!(folder.llsd(&["render", "a.yaml"]).out.contains("vllm"), "it lies beside the file");
}

/// A link to a device would be read until all memory is gone.
#[cfg(unix)]
#[test]
fn rules_of_git_that_are_no_file_are_told() {
    let folder = Folder::new("rules");
    folder.write("a.yaml", CLEAN);
    folder.write("sub/b.yaml", CLEAN);
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("sub/.gitignore")).expect("a link");
    let ran = folder.llsd(&["check", "."]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.err, "llsd: cannot read sub: ./sub/.gitignore is no regular file, or larger than 1024 KiB\n");
    // Also above what is asked for, and where nobody but git looks.
    let ran = folder.llsd(&["check", "sub/b.yaml"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    folder.write("sub/deeper/c.yaml", CLEAN);
    assert_eq!(folder.llsd(&["check", "sub/deeper"]).code, 0);
    folder.write("deeper/.git/info/x", "");
    folder.write("deeper/d.yaml", CLEAN);
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("deeper/.git/info/exclude")).expect("a link");
    let ran = folder.llsd(&["check", "deeper"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("deeper/.git/info/exclude is no regular file"), "{}", ran.err);
}

/// An image has its base config in its labels, which nobody reads here.
#[test]
fn a_base_config_is_named_or_stands_in_the_settings_of_the_team() {
    let folder = Folder::new("bases");
    let stack = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: own}\nspec:\n  \
                 distribution: {image: \"quay.io/example/llama-stack:0.4.7\"}\n  providers:\n    inference:\n      - \
                 {provider: vllm, endpoint: \"http://vllm:8000/v1\"}\n  resources: {models: [{name: a, provider: ours}]}\n";
    folder.write("stack.yaml", stack);
    let base = "version: 2\nimage_name: ours\napis: [inference]\nproviders:\n  inference:\n  - {provider_id: ours, \
                provider_type: \"remote::openai\", config: {}}\n";
    folder.write("configs/ours.yaml", base);
    folder.write("configs/others.yaml", base.replace("ours", "theirs"));
    assert_eq!(folder.llsd(&["render", "stack.yaml"]).code, 1);
    let rendered = folder.llsd(&["render", "stack.yaml", "--base", "configs/ours.yaml"]);
    assert_eq!(rendered.code, 0, "{}", rendered.err);
    let has = |text: &str| rendered.out.contains(text);
    assert!(has("image_name: ours") && has("http://vllm:8000/v1"), "{}", rendered.out);

    // The provider of the model is one of the base config, or of nothing.
    let unknown = "llsd::model::unknown-provider";
    assert!(folder.llsd(&["check", "--show-unchecked", "stack.yaml"]).out.contains("--base"));
    let checked = folder.llsd(&["check", "stack.yaml", "--base", "configs/ours.yaml"]);
    assert_eq!((checked.code, checked.out.as_str()), (0, "1 resource in 1 file: nothing wrong\n"));
    assert!(folder.llsd(&["check", "stack.yaml", "--base", "configs/others.yaml"]).out.contains(unknown));
    let wrong = folder.llsd(&["check", "stack.yaml", "--base", "nowhere.yaml"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.starts_with("llsd: --base: nowhere.yaml cannot be read"), "{}", wrong.err);

    folder.write("llsd.toml", "[bases]\n\"quay.io/example/llama-stack:0.4.7\" = \"configs/ours.yaml\"\n");
    assert_eq!(folder.llsd(&["render", "stack.yaml"]).out, rendered.out);
    assert_eq!(folder.llsd(&["check", "stack.yaml"]).out, "1 resource in 1 file: nothing wrong\n");
    let named = folder.llsd(&["check", "stack.yaml", "--base", "configs/others.yaml"]);
    assert!(named.out.contains(unknown), "what is named counts: {}", named.out);
    // Of a name as of an image; what is set for it counts in place of what this program has.
    folder.write("stack.yaml", stack.replace("image: \"quay.io/example/llama-stack:0.4.7\"", "name: starter"));
    assert!(folder.llsd(&["check", "stack.yaml"]).out.contains(unknown));
    folder.write("llsd.toml", "[bases]\nstarter = \"configs/ours.yaml\"\n");
    assert_eq!(folder.llsd(&["check", "stack.yaml"]).out, "1 resource in 1 file: nothing wrong\n");

    // Other files may have the resource, as long as the folder was not looked at as a whole.
    folder.write("llsd.toml", "[bases]\nstarter = \"configs/ours.yaml\"\nstartr = \"configs/ours.yaml\"\n");
    assert_eq!(folder.llsd(&["check", "stack.yaml"]).err, "");
    let whole = folder.llsd(&["check", "."]);
    assert!(whole.err.contains("llsd.toml:3:1: nothing starts from the base config of \"startr\""), "{}", whole.err);
    assert!(whole.err.contains("did you mean \"starter\"?") && whole.err.lines().count() == 1, "{}", whole.err);
    folder.write("llsd.toml", "");
    let own = "\n  overrideConfig: {configMapName: a}\n";
    folder.write("own.yaml", stack[..stack.find("\n  providers").expect("providers")].replace(" own}", " b}"));
    assert_eq!(folder.llsd(&["check", "own.yaml", "--base", "configs/ours.yaml"]).err, "");
    folder.write("own.yaml", format!("{}{own}", &stack[..stack.find("\n  providers").expect("providers")]));
    let unused = folder.llsd(&["check", "own.yaml", "--base", "configs/ours.yaml"]);
    assert!(unused.err.contains("--base: nothing starts from configs/ours.yaml"), "{}", unused.err);

    folder.write("llsd.toml", "[bases]\nstarter = \"configs/none.yaml\"\n");
    for command in ["check", "render"] {
        let ran = folder.llsd(&[command, "stack.yaml"]);
        assert_eq!(ran.code, 2, "{command}: {}", ran.out);
        assert!(ran.err.contains("\"configs/none.yaml\" cannot be read"), "{}", ran.err);
    }
}
