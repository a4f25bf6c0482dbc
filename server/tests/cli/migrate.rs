//! `llsd migrate`: resources of v1alpha1 as v1alpha2, with the ConfigMaps of other files.

use super::*;

#[test]
fn migrate_prints_or_writes() {
    let folder = Folder::new("migrate");
    let older = fs::read_to_string(sample("v1alpha1-env.yaml")).expect("the sample");
    folder.write("old.yaml", &older);
    let printed = folder.llsd(&["migrate", "old.yaml"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    assert!(printed.out.contains("apiVersion: llamastack.io/v1alpha2"), "{}", printed.out);
    assert!(printed.out.contains("# The older version"), "comments stay");
    assert_eq!(folder.read("old.yaml"), older);
    let written = folder.llsd(&["migrate", "--write", "old.yaml"]);
    assert_eq!((written.code, written.out.as_str()), (0, ""));
    assert_eq!(folder.read("old.yaml"), printed.out);
    assert_eq!(folder.llsd(&["check", "old.yaml"]).code, 0);
    let again = folder.llsd(&["migrate", "old.yaml"]);
    assert_eq!((again.code, again.out.as_str()), (0, printed.out.as_str()));
    assert_eq!(again.err, "llsd: old.yaml has no v1alpha1 resource; nothing to migrate\n");
}

#[test]
fn migrate_folds_what_another_file_has() {
    let folder = Folder::new("migrate-across");
    let config = CONFIG_MAP.replace("run.yaml", "config.yaml");
    folder.write("stack.yaml", USER_CONFIG);
    folder.write("sub/config.yaml", &config);
    // not named, and not beside
    assert!(folder.llsd(&["migrate", "stack.yaml"]).out.contains("overrideConfig"));
    let folded = folder.llsd(&["migrate", "stack.yaml", "sub/config.yaml"]);
    assert!(folded.code == 0 && folded.out.contains("- id: fast # the team's\n"), "{folded:?}");
    assert!(!folded.out.contains("overrideConfig") && folded.out.contains("endpoint: http://fast:8000/v1"));
    // removed where it was named, and nothing else refers to it
    folder.write("config.yaml", &config);
    fs::remove_file(folder.0.join("sub/config.yaml")).expect("it is there");
    let printed = folder.llsd(&["migrate", "--remove-config-maps", "stack.yaml"]);
    assert_eq!(printed.out, folded.out);
    assert!(!printed.err.contains("--write does it"), "a file that was not named stays: {}", printed.err);
    let printed = folder.llsd(&["migrate", "--remove-config-maps", "stack.yaml", "config.yaml"]);
    assert!(printed.err.contains("note: config.yaml changes too; --write does it\n"), "{}", printed.err);
    assert!(printed.err.contains("note: removed with ConfigMap \"config\": # by hand\n"), "{}", printed.err);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{configMap: {name: config}}]}\n";
    folder.write("pod.yaml", pod);
    let kept = folder.llsd(&["migrate", "--remove-config-maps", "stack.yaml", "config.yaml"]);
    assert!(!kept.err.contains("--write does it"), "{}", kept.err);
    fs::remove_file(folder.0.join("pod.yaml")).expect("it is there");
    // several files
    folder.write(
        "more.yaml",
        USER_CONFIG.replace("userConfig: {configMapName: config}", "storage: {size: 1Gi}").replace("old", "more"),
    );
    let both = folder.llsd(&["migrate", "."]);
    assert_eq!(both.code, 0, "{both:?}");
    assert_eq!(both.out.matches("apiVersion: llamastack.io/v1alpha2").count(), 2, "{}", both.out);
    assert_eq!(both.out.matches("---\n").count(), 1, "several files are documents: {}", both.out);
    let said = folder.llsd(&["migrate", "--dry-run", "."]);
    assert_eq!((said.code, said.out.as_str()), (0, "would migrate more.yaml\nwould migrate stack.yaml\n"));
    let diff = folder.llsd(&["migrate", "--diff", "more.yaml"]).out;
    assert!(diff.contains("-apiVersion: llamastack.io/v1alpha1\n+apiVersion: llamastack.io/v1alpha2\n"), "{diff}");
    assert_eq!(folder.llsd(&["migrate", "--write", "--remove-config-maps", "."]).code, 0);
    assert_eq!(folder.read("stack.yaml"), folded.out);
    assert!(folder.read("more.yaml").contains("v1alpha2") && !folder.0.join("config.yaml").exists());
    assert_eq!(folder.llsd(&["check", "."]).code, 0);
    assert_eq!(folder.llsd(&["migrate", "."]).err, "llsd: there is no v1alpha1 resource; nothing to migrate\n");
}

#[test]
fn migrate_completes_an_address_and_says_so() {
    let folder = Folder::new("migrate-address");
    let bare = "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  server:\n    \
                distribution: {name: starter}\n    containerSpec:\n      env:\n      - name: OLLAMA_URL\n        \
                value: http://ollama:11434\n";
    folder.write("a.yaml", bare);
    let ran = folder.llsd(&["migrate", "a.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("endpoint: http://ollama:11434/v1"), "{}", ran.out);
    let mended = "mended first: Append /v1 to spec.server.containerSpec.env[0].value";
    assert!(ran.err.contains(mended) && ran.err.contains("but for what was mended first, everything"), "{}", ran.err);
    // a patch may set the address
    folder.write("kustomization.yaml", "resources: [a.yaml]\npatches: [{path: patch.yaml}]\n");
    let patch = bare.replace("ollama:11434", "other:11434/v1");
    folder.write("patch.yaml", patch);
    let ran = folder.llsd(&["migrate", "."]);
    assert!(!ran.err.contains("mended first"), "{}", ran.err);
}

#[test]
fn migrate_tells_losses_and_leaves_what_it_cannot_say() {
    let folder = Folder::new("migrate-losses");
    let resource = |container: &str| {
        format!(
            "{}    containerSpec: {container}\n",
            USER_CONFIG.replace("    userConfig: {configMapName: config}\n", "")
        )
    };
    folder.write("loss.yaml", resource("{name: mine}"));
    let port = resource("{port: 80}");
    folder.write("port.yaml", &port);
    let template =
        resource("{}").replace("    containerSpec: {}", "    {{- if .Values.x }}\n    workers: 2\n    {{- end }}");
    folder.write("template.yaml", &template);
    folder.write("plain.yaml", resource("{port: 8400}"));
    let empty =
        "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: e}\nspec:\n  server: {}\n";
    folder.write("empty.yaml", empty);
    let ran = folder.llsd(&["migrate", "--write", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let said = [
        "llsd: empty.yaml: not migrated: it has errors that would cost parts of it, see `llsd check`: \
         spec.server.distribution: missing required field \"distribution\"\n",
        "llsd: loss.yaml: loss: spec.server.containerSpec.name: \"mine\" is gone\n",
        "llsd: plain.yaml: note: everything means the same as before\n",
        "llsd: port.yaml: not migrated: v1alpha2 would refuse the result: spec.networking.port: ",
        "llsd: template.yaml: not migrated: line 7 of the document is a line of a template",
    ];
    for line in said {
        assert!(ran.err.contains(line), "{line}\n{}", ran.err);
    }
    assert!(folder.read("plain.yaml").contains("v1alpha2") && folder.read("loss.yaml").contains("v1alpha2"));
    assert_eq!(folder.read("port.yaml"), port);
    assert_eq!(folder.read("template.yaml"), template);
    assert_eq!(folder.read("empty.yaml"), empty);
    // nobody minds the container's name
    folder.write("loss.yaml", resource("{name: mine}"));
    assert_eq!(folder.llsd(&["migrate", "--allow-changes", "loss.yaml"]).code, 0);
    assert_eq!(folder.llsd(&["migrate", "loss.yaml"]).code, 1);
    // one document that cannot be migrated keeps the others of its file
    let two = format!("{}---\n{port}", resource("{port: 8400}"));
    folder.write("two.yaml", &two);
    assert_eq!(folder.llsd(&["migrate", "--write", "two.yaml"]).code, 1);
    assert_eq!(folder.read("two.yaml"), two);
    // a ConfigMap that is to stay
    folder.write("both.yaml", format!("{USER_CONFIG}---\n{}", CONFIG_MAP.replace("run.yaml", "config.yaml")));
    let kept = folder.llsd(&["migrate", "--keep-config-maps", "both.yaml"]);
    assert!(kept.code == 0 && kept.out.contains("overrideConfig"), "{kept:?}");
}
