//! What those need who package the program: completions and manual pages.

use super::Folder;
use std::process::Command;

#[test]
fn bash_completes_subcommands_and_options() {
    let folder = Folder::new("completions");
    let script = folder.llsd(&["completions", "bash"]);
    assert_eq!(script.code, 0, "{}", script.err);
    folder.write("llsd.bash", &script.out);
    let complete = |words: &str, index: usize| {
        let program = format!(
            "source ./llsd.bash; COMP_WORDS=({words}); COMP_CWORD={index}; \
             _llsd llsd \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let ran = Command::new("bash").args(["-c", &program]).current_dir(&folder.0).output().expect("bash runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).trim().to_owned()
    };
    assert_eq!(complete("llsd mig", 1), "migrate");
    assert_eq!(complete("llsd check --form", 2), "--format");
}

#[test]
fn each_shell_gets_a_script() {
    let folder = Folder::new("shells");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.llsd(&["completions", shell]);
        assert_eq!(script.code, 0, "{shell}: {}", script.err);
        assert!(script.out.contains("migrate"), "{shell} does not know the subcommands");
    }
}

#[test]
fn there_is_a_manual_page_for_each_subcommand() {
    let folder = Folder::new("man");
    let ran = folder.llsd(&["man", "."]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for page in ["llsd.1", "llsd-check.1", "llsd-migrate.1"] {
        assert!(folder.read(page).contains(".SH NAME"), "{page}");
    }
    let nowhere = folder.llsd(&["man", "nowhere"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.err.contains("cannot write the manual pages to nowhere"), "{}", nowhere.err);
}
