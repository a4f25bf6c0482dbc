//! Manifests in shell scripts and Markdown.

use super::Folder;

/// A script that applies a ConfigMap with a mistyped key.
const SCRIPT: &str = "#!/bin/sh\nset -e\ncat <<'EOF' | kubectl apply -f -\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \
    llama-config\ndata:\n  config.yaml: |\n    version: 2\n    image_name: demo\n    apis: [inference]\n    providers:\n      \
    inference:\n      - provider_id: vllm\n        provider_type: remote::vllm\n        config:\n          base_url: \
    http://vllm:8000/v1\n          max_token: 1\nEOF\necho \"done: ${1:-all}\"\n";

fn page() -> String {
    let manifest: Vec<&str> = SCRIPT.lines().skip(3).take_while(|line| *line != "EOF").collect();
    format!("# Llama stack\n\nApply `this`:\n\n```yaml\n{}\n```\n\nDone.\n", manifest.join("\n"))
}

#[test]
fn here_documents_of_scripts_are_checked_and_fixed() {
    let folder = Folder::new("scripts");
    folder.write("deploy/apply.sh", SCRIPT);
    let checked = folder.llsd(&["check", "."]);
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.out.contains("max_token: 1") && checked.out.contains("apply.sh:19:"), "{}", checked.out);
    let fixed = folder.llsd(&["fix", "."]);
    assert_eq!(fixed.code, 0, "{fixed:?}");
    assert_eq!(folder.read("deploy/apply.sh"), SCRIPT.replace("max_token:", "max_tokens:"));
    // nothing but the manifests is ever looked at
    folder.llsd(&["fmt", "."]);
    assert_eq!(folder.read("deploy/apply.sh"), SCRIPT.replace("max_token:", "max_tokens:"));
}

#[test]
fn markdown_is_read_where_it_is_wanted() {
    let folder = Folder::new("markdown");
    folder.write("clean.yaml", super::CLEAN);
    folder.write("docs/page.md", page());
    assert_eq!(folder.llsd(&["check", "."]).code, 0);
    assert_eq!(folder.llsd(&["check", "docs/page.md"]).code, 1);
    let checked = folder.llsd(&["check", "--markdown", "."]);
    assert!(checked.out.contains("page.md:21:"), "{checked:?}");
    assert_eq!(folder.llsd(&["fix", "--markdown", "."]).code, 0);
    assert_eq!(folder.read("docs/page.md"), page().replace("max_token:", "max_tokens:"));
}
