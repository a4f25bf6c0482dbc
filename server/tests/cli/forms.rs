//! Files in the forms that `kubectl` reads, and in those that only look so.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The rules that are found in a text, as a file of this name.
fn rules(name: &str, text: &str) -> (u64, Vec<String>) {
    // tests run side by side
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let folder = Folder::new(&format!("forms-{}", FOLDERS.fetch_add(1, Ordering::Relaxed)));
    let path = folder.write(name, text);
    let ran = llsd(&["check", "--format", "json", &path]);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let rules = findings(&ran).iter().map(|found| found["rule"].as_str().unwrap_or_default().to_owned()).collect();
    (report["resources"].as_u64().expect("a number"), rules)
}

fn json_resource(name: &str, distribution: &str) -> String {
    let object = json!({
        "apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution",
        "metadata": {"name": name}, "spec": {"distribution": {"name": distribution}},
    });
    object.to_string()
}

#[test]
fn json_objects_in_a_row_are_all_checked() {
    let (good, bad) = (json_resource("a", "starter"), json_resource("b", "startr"));
    for text in [format!("{good}\n{bad}\n"), format!("{good}{bad}"), format!("\u{feff}{good}\n\n  {bad}")] {
        assert_eq!(rules("stream.json", &text), (2, vec!["llsd::distribution::unknown".to_owned()]), "{text}");
    }
}

#[test]
fn items_of_a_typed_list_are_checked() {
    let list = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistributionList\nitems:\n  - metadata: {name: a}\n    \
                spec: {distribution: {name: startr}}\n";
    assert_eq!(rules("list.yaml", list), (1, vec!["llsd::distribution::unknown".to_owned()]));
    // kubectl takes whatever has items for a list
    let other = format!("apiVersion: v1\nkind: Bundle\nitems: [{}]\n", json_resource("a", "starter"));
    assert_eq!(rules("bundle.yaml", &other), (1, vec![]));
}

#[test]
fn secrets_of_a_typed_list_are_known() {
    let text = format!(
        "{CLEAN}---\napiVersion: v1\nkind: SecretList\nitems:\n  - metadata: {{name: keys}}\n    stringData: {{token: x}}\n"
    );
    let text = text.replace("endpoint:", "apiKey: {secretKeyRef: {name: keys, key: tokn}}\n        endpoint:");
    assert_eq!(rules("both.yaml", &text), (1, vec!["llsd::reference::no-key".to_owned()]));
}

#[test]
fn a_byte_order_mark_may_stand_behind_a_separator() {
    let text = format!("{CLEAN}---\n\u{feff}# saved elsewhere\n{}", CLEAN.replace("minimal", "other"));
    assert_eq!(rules("two.yaml", &text), (2, vec![]));
}

#[test]
fn what_kubectl_refuses_is_an_error_and_mended() {
    let flow = format!("--- {}\n", json_resource("a", "starter"));
    let cases = [
        (CLEAN.replace("the team's", "\u{1b}[0m from a terminal"), "llsd::yaml::control-character"),
        (format!("%YAML 1.1\n---\n{CLEAN}"), "llsd::yaml::directive"),
        (flow, "llsd::yaml::separator"),
        (format!("{CLEAN}--- !!map\n{}", CLEAN.replace("minimal", "other")), "llsd::yaml::separator"),
    ];
    for (text, rule) in cases {
        let (_, found) = rules("a.yaml", &text);
        assert_eq!(found, [rule], "{text}");
        let folder = Folder::new("form-fixes");
        let path = folder.write("a.yaml", &text);
        assert_eq!(llsd(&["fix", &path]).code, 0);
        assert_eq!(rules("a.yaml", &folder.read("a.yaml")).1, Vec::<String>::new(), "{}", folder.read("a.yaml"));
    }
}

#[cfg(unix)]
#[test]
fn a_folder_is_read_as_kubectl_reads_it() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    let bad = |name: &str| CLEAN.replace("minimal", name).replace("starter", "startr");
    folder.write("dir/a.yaml", CLEAN);
    folder.write("dir/.hidden.yaml", bad("hidden"));
    folder.write("dir/other.json", "{\"name\": \"no resource\"}");
    folder.write("dir/stream.json", json_resource("json", "startr"));
    folder.write("shared.yaml", bad("shared"));
    folder.write("elsewhere/x.yaml", bad("elsewhere"));
    let at = |name: &str| folder.0.join("dir").join(name);
    symlink("../shared.yaml", at("link.yaml")).expect("a link");
    symlink("a.yaml", at("same.yaml")).expect("a link");
    symlink("../elsewhere", at("folder")).expect("a link");
    symlink(".", at("circle")).expect("a link");
    let ran = folder.llsd(&["check", "--format", "json", "dir"]);
    let files: Vec<_> = findings(&ran).iter().map(|found| found["file"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(files, ["dir/.hidden.yaml", "dir/link.yaml", "dir/stream.json"]);
    assert_eq!(ran.code, 1);
    let left_out = "llsd: left out dir/circle: a link to a folder, which kubectl does not enter either\n\
                    llsd: left out dir/folder: a link to a folder, which kubectl does not enter either\n";
    assert_eq!(ran.err, left_out);
    symlink("nowhere.yaml", at("broken.yaml")).expect("a link");
    let ran = folder.llsd(&["check", "dir"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot read dir/broken.yaml: a link to a file that does not exist"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_mounted_config_map_is_a_folder() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("mounted");
    folder.write("mnt/..2026_11_28/stack.yaml", CLEAN);
    symlink("..2026_11_28", folder.0.join("mnt/..data")).expect("a link");
    symlink("..data/stack.yaml", folder.0.join("mnt/stack.yaml")).expect("a link");
    let ran = folder.llsd(&["check", "mnt"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "1 resource in 1 file: nothing wrong\n", ""));
}

#[test]
fn what_git_ignores_is_not_looked_at() {
    let folder = Folder::new("ignored");
    folder.write(".gitignore", "rendered/\n");
    folder.write("a.yaml", CLEAN);
    folder.write("rendered/b.yaml", CLEAN.replace("starter", "startr"));
    let ran = folder.llsd(&["check", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1 resource in 1 file: nothing wrong\n"));
    assert_eq!(folder.llsd(&["check", "rendered"]).code, 1, "unless it is named");
}
