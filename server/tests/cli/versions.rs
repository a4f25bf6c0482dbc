//! `llsd migrate --to`: configs of the server for another version of it.

use super::Folder;

/// A config that means the same in a later version, under other names.
const SAME: &str = "\
version: 2
image_name: test
apis: [inference]
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      url: http://vllm:8000/v1 # ours
";

#[test]
fn a_config_is_printed_compared_or_written() {
    let folder = Folder::new("versions");
    let file = folder.write("config.yaml", SAME);
    let printed = folder.llsd(&["migrate", "--to", "0.7.3", &file]);
    assert_eq!(printed.code, 0, "{printed:?}");
    assert!(printed.out.contains("      base_url: http://vllm:8000/v1 # ours\n"), "{printed:?}");
    assert!(
        printed.err.contains("note: providers.inference[0].config.url: llama-stack 0.7.3 reads it as"),
        "{printed:?}"
    );
    assert_eq!(folder.read("config.yaml"), SAME);
    let diff = folder.llsd(&["migrate", "--to", "v0.7.3", "--diff", &file]);
    assert!(diff.out.contains("-      url: http://vllm:8000/v1 # ours\n+      base_url:"), "{diff:?}");
    let dry = folder.llsd(&["migrate", "--to", "0.7.3", "--dry-run", &file]);
    assert!(dry.out.starts_with("would migrate ") && dry.code == 0, "{dry:?}");
    assert_eq!(folder.read("config.yaml"), SAME);
    let done = folder.llsd(&["migrate", "--to", "0.7.3", "--write", &file]);
    assert_eq!((done.code, done.out.as_str()), (0, ""));
    assert_eq!(folder.read("config.yaml"), printed.out);
    let again = folder.llsd(&["migrate", "--to", "0.7.3", &file]);
    assert_eq!((again.out.as_str(), again.err.as_str()), (printed.out.as_str(), ""));
}

#[test]
fn what_is_lost_makes_the_exit_code() {
    let folder = Folder::new("versions-loss");
    let safety = "  safety:\n  - provider_id: llama-guard\n    provider_type: inline::llama-guard\n    config: {}\n";
    let file = folder.write("config.yaml", format!("{SAME}{safety}"));
    let told = folder.llsd(&["migrate", "--to", "1.5.0", &file]);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("loss: providers.safety: ogx 1.5.0 has no API \"safety\""), "{told:?}");
    assert!(!told.out.contains("safety"), "{told:?}");
    assert_eq!(folder.llsd(&["migrate", "--to", "1.5.0", "--allow-changes", &file]).code, 0);
}

#[test]
fn a_provider_of_a_module_of_its_own_cannot_be_judged() {
    let folder = Folder::new("versions-module");
    let module = "    module: llama_stack_provider_lmeval==0.2.4\n";
    let eval = "  eval:\n  - provider_id: lmeval\n    provider_type: remote::lmeval\n    config: {anything: 1}\n";
    let file = folder.write("config.yaml", format!("{SAME}{eval}{module}"));
    let told = folder.llsd(&["migrate", "--to", "0.7.3", &file]);
    assert_eq!(told.code, 1, "{told:?}");
    let words = "not known: providers.eval[0]: provider type \"remote::lmeval\" comes from the module \
                 \"llama_stack_provider_lmeval==0.2.4\"";
    assert!(told.err.contains(words) && told.err.contains("exists for llama-stack 0.7.3"), "{told:?}");
    assert!(told.out.contains("config: {anything: 1}") && told.out.contains(module), "{told:?}");
    // what is there already is no matter of another version
    let there = folder.write("there.yaml", &told.out);
    let again = folder.llsd(&["migrate", "--to", "0.7.3", &there]);
    assert_eq!((again.code, again.err.as_str()), (0, ""), "{again:?}");

    let folder_of_types = "external_providers_dir: /opt/providers\n";
    let file = folder.write("config.yaml", format!("{folder_of_types}{SAME}{eval}"));
    let told = folder.llsd(&["migrate", "--to", "0.7.3", &file]);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("comes from external_providers_dir (/opt/providers)"), "{told:?}");
}

#[test]
fn an_unknown_version_and_a_file_without_config_are_told() {
    let folder = Folder::new("versions-wrong");
    let file = folder.write("config.yaml", SAME);
    let wrong = folder.llsd(&["migrate", "--to", "0.4.2", &file]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("version 0.4.2 is not known; the target is ogx,"), "{wrong:?}");
    let other = folder.write("other.yaml", "a: 1\n");
    let none = folder.llsd(&["migrate", "--to", "1.5.0", &other]);
    assert_eq!((none.code, none.out.as_str()), (0, "a: 1\n"));
    assert!(none.err.contains("has no config of the server; nothing to migrate"), "{none:?}");
}
