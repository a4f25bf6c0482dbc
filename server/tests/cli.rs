//! The command line as a user meets it: real files, real exit codes.

mod fix;
mod forms;
mod hosts;
mod migrate;
mod ogx;
mod ogx_plan;
mod packaging;
mod team;
mod versions;

use expect_test::expect;
use llsd_generator::check::rules;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

const CLEAN: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: minimal
spec:
  distribution:
    name: starter
  providers:
    inference:
      - provider: vllm
        endpoint: http://vllm:8000/v1
  workload:
    workers: 2 # the team's
";

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("llsd-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("a file")
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }

    /// Runs llsd in this folder.
    fn llsd(&self, arguments: &[&str]) -> Ran {
        Ran::from(crate::support::llsd().args(arguments).current_dir(&self.0).output().expect("llsd runs"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a run left behind.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let ran =
            Self { code: output.status.code().expect("no signal"), out: text(output.stdout), err: text(output.stderr) };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }
}

fn llsd(arguments: &[&str]) -> Ran {
    Ran::from(crate::support::llsd().args(arguments).output().expect("llsd runs"))
}

fn llsd_reads(arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = crate::support::llsd();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("llsd runs");
    process.stdin.take().expect("piped").write_all(input).expect("llsd reads");
    Ran::from(process.wait_with_output().expect("llsd ends"))
}

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name).display().to_string()
}

fn findings(ran: &Ran) -> Vec<Value> {
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    report["findings"].as_array().expect("a list").clone()
}

#[test]
fn a_clean_file_is_clean() {
    let folder = Folder::new("clean");
    folder.write("a.yaml", CLEAN);
    let ran = folder.llsd(&["check", "a.yaml"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "1 resource in 1 file: nothing wrong\n", ""));
}

#[test]
fn a_finding_is_shown_where_it_is() {
    let folder = Folder::new("finding");
    folder.write("a.yaml", CLEAN.replace("workers", "wokrers"));
    let ran = folder.llsd(&["check", "a.yaml"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    expect![[r#"
        error[llsd::schema::unknown-field]: unknown field "wokrers"; did you mean "workers"?
          --> a.yaml:13:5
          13 |     wokrers: 2 # the team's
             |     ^^^^^^^
           = fix: Rename "wokrers" to "workers" (`llsd fix` does it)

        1 resource in 1 file: 1 error
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn every_format_has_the_finding() {
    let folder = Folder::new("formats");
    folder.write("a.yaml", CLEAN.replace("workers", "wokrers"));
    folder.write("b.yaml", CLEAN.replace("minimal", "other"));
    let run = |format| {
        let ran = folder.llsd(&["check", ".", "--format", format]);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{ran:?}");
        ran
    };

    let found = &findings(&run("json"))[0];
    assert_eq!(found["path"], "spec.workload.wokrers");
    assert_eq!(found["start"], serde_json::json!({"line": 13, "column": 5}));
    assert_eq!(found["end"], serde_json::json!({"line": 13, "column": 12}));
    assert_eq!(found["severity"], "error");
    assert!(found["serverText"].is_string(), "{found}");

    let sarif: Value = serde_json::from_str(&run("sarif").out).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a.yaml");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 13);
    assert_eq!(result["ruleId"], found["rule"]);

    let github = run("github").out;
    assert!(
        github.starts_with("::error file=a.yaml,line=13,endLine=13,col=5,endColumn=12,title=llsd%3A%3A"),
        "{github}"
    );

    let junit = run("junit").out;
    assert!(junit.contains(r#"tests="2" failures="1""#), "{junit}");
    assert!(junit.contains("a.yaml:13:5: error["), "{junit}");
}

#[test]
fn sarif_describes_rules_as_the_registry_does() {
    let folder = Folder::new("sarif_rules");
    let unused = "# llsd: ignore[llsd::provider::unknown-type] it came with another release";
    folder.write("a.yaml", format!("{unused}\n{}", CLEAN.replace("workers", "wokrers")));
    let ran = folder.llsd(&["check", "--format", "sarif", "a.yaml"]);
    let sarif: Value = serde_json::from_str(&ran.out).expect("JSON");
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().expect("results");
    let found: BTreeSet<&str> = results.iter().map(|one| one["ruleId"].as_str().expect("an id")).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["llsd::ignore::unused", "llsd::schema::unknown-field"]);
    let page = include_str!("../../docs/findings.md");
    let described = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let ids: Vec<&Value> = described.iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["llsd::ignore::unused", "llsd::schema::unknown-field"], "each rule once, and no other");
    for (one, level) in described.iter().zip(["warning", "error"]) {
        let rule = rules::find(one["id"].as_str().expect("an id")).expect("a rule of the registry");
        assert_eq!(one["shortDescription"]["text"], rule.summary);
        assert_eq!(one["fullDescription"]["text"], format!("{} {}", rule.summary, rule.why));
        for help in [&one["help"]["text"], &one["help"]["markdown"]] {
            let help = help.as_str().expect("a text");
            assert!(help.contains(rule.why) && help.contains(rule.example), "{help}");
        }
        assert_eq!(one["helpUri"], rule.documentation());
        assert!(page.contains(&format!("\n## {}\n", rule.id)), "the URI leads to a section");
        assert_eq!(one["defaultConfiguration"]["level"], level);
    }
}

#[test]
fn wrong_usage_is_said_shortly() {
    for arguments in [&["frobnicate"][..], &["check"], &["check", "--format", "xml", "a"], &["render"], &[]] {
        let ran = llsd(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.out.is_empty() && (ran.err.contains("Usage: ") || ran.err.contains("--help")), "{ran:?}");
    }
    for arguments in [&["--help"][..], &["check", "--help"], &["--version"], &["help", "render"]] {
        let ran = llsd(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new("unreadable");
    folder.write("good.yaml", CLEAN);
    folder.write("latin.yaml", b"a: 1\nb: \xE4\n");
    folder.write("wide.yaml", b"\xFF\xFEa\0:\0");
    fs::create_dir(folder.0.join("empty")).expect("a folder");
    let cases = [
        ("missing.yaml", "llsd: cannot read missing.yaml: no such file\n"),
        ("latin.yaml", "llsd: cannot read latin.yaml: is not UTF-8 (line 2); save it as UTF-8\n"),
        ("wide.yaml", "llsd: cannot read wide.yaml: is UTF-16; save it as UTF-8\n"),
        ("empty", "llsd: cannot read empty: no .yaml, .yml or .json manifest in this directory\n"),
    ];
    for (name, message) in cases {
        // What can be read is checked all the same.
        let ran = folder.llsd(&["check", "good.yaml", name]);
        assert_eq!((ran.code, ran.err.as_str()), (2, message));
        let not_read = "1 resource in 1 file: nothing wrong; 1 path not read\n";
        assert_eq!(ran.out, not_read);
    }
    for (command, message) in
        [("render", "is a directory; name one file"), ("migrate", "no .yaml, .yml or .json manifest in this directory")]
    {
        assert_eq!(folder.llsd(&[command, "missing.yaml"]).code, 2);
        let ran = folder.llsd(&[command, "empty"]);
        assert_eq!((ran.code, ran.err), (2, format!("llsd: cannot read empty: {message}\n")));
    }
}

#[test]
fn files_without_a_resource_are_clean() {
    let folder = Folder::new("others");
    for (name, text) in [
        ("empty.yaml", ""),
        ("comment.yaml", "# nothing\n"),
        ("bom.yaml", "\u{feff}"),
        ("null.yaml", "---\n---\n...\n"),
        ("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"),
        ("helm.yaml", "{{- range .Values.x }}\na: {{ . }}\n{{- end }}\n"),
        ("prose.yaml", "this is not YAML: at: all: [\n"),
        ("binary.yaml", "\0\u{1}\u{2}"),
    ] {
        folder.write(name, text);
        let ran = folder.llsd(&["check", name]);
        let said = "llsd: no LlamaStackDistribution, OGXServer or config in this file: nothing was checked\n";
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", said), "{name}");
    }
    let ran = folder.llsd(&["render", "service.yaml"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (2, "llsd: service.yaml has no LlamaStackDistribution and no OGXServer\n")
    );
}

#[test]
fn hostile_files_end_with_a_finding() {
    let folder = Folder::new("hostile");
    let head = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\n";
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..40 {
        let last = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [last.as_str(); 9].join(", ")));
    }
    let nested = format!("{head}spec: {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let stairs: String = (0..3000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let wide: String = (0..50_000).map(|line| format!("  key{line}: {line}\n")).collect();
    let cases = [
        ("bomb.yaml", format!("{head}{bomb}spec: *a39\n")),
        ("nested.yaml", nested),
        ("stairs.yaml", format!("{head}spec:\n{}", stairs.replace("a:", "  a:"))),
        ("open.yaml", format!("{head}spec: {}", "{a: ".repeat(20_000))),
        ("lines.yaml", format!("{head}spec:\n{wide}")),
        ("line.yaml", format!("{head}spec: {{distribution: {{name: \"{}\"}}}}\n", "x".repeat(10 << 20))),
        ("quotes.yaml", format!("{head}spec: {}\n", "\"".repeat(100_001))),
    ];
    for (name, text) in cases {
        folder.write(name, text);
        let ran = folder.llsd(&["check", name, "--format", "json"]);
        assert_eq!(ran.code, 1, "{name}: {}", ran.err);
        assert!(!findings(&ran).is_empty(), "{name}");
    }
}

#[test]
fn unknown_versions_and_kinds_are_named() {
    let folder = Folder::new("versions");
    folder.write("version.yaml", CLEAN.replace("v1alpha2", "v1beta7"));
    let ran = folder.llsd(&["check", "version.yaml"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("version.yaml:1:") && ran.out.contains("v1beta7"), "{}", ran.out);
    folder.write("kind.yaml", CLEAN.replace("kind: LlamaStackDistribution", "kind: LlamaStackDistributon"));
    let ran = folder.llsd(&["check", "kind.yaml"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("kind.yaml:2:"), "{}", ran.out);
}

#[test]
fn wrong_types_everywhere_are_findings() {
    let folder = Folder::new("types");
    for value in ["1", "text", "true", "null", "[]", "{}", "[1, {a: [null]}]", "1.5e400", "2024-01-01", "~"] {
        for place in ["spec", "spec.providers", "spec.providers.inference", "metadata", "spec.distribution", "kind"] {
            let mut lines = String::from("apiVersion: llamastack.io/v1alpha2\n");
            if place != "kind" {
                lines.push_str("kind: LlamaStackDistribution\n");
            }
            for (depth, key) in place.split('.').enumerate() {
                let last = place.rsplit('.').next() == Some(key);
                let end = if last { format!(" {value}") } else { String::new() };
                lines.push_str(&format!("{}{key}:{end}\n", "  ".repeat(depth)));
            }
            folder.write("a.yaml", &lines);
            for command in ["check", "render", "migrate", "fix"] {
                let ran = folder.llsd(&[command, "a.yaml"]);
                assert!((0..=2).contains(&ran.code), "{command} of\n{lines}{ran:?}");
            }
        }
    }
    folder.write("b.yaml", CLEAN.replace("name: starter", "name: [1]"));
    assert_eq!(folder.llsd(&["check", "b.yaml"]).code, 1);
}

#[test]
fn standard_input_is_a_file() {
    let ran = llsd_reads(&["check", "-"], CLEAN.replace("workers", "wokrers").as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("--> <stdin>:13:5"), "{}", ran.out);
    let ran = llsd_reads(&["fix", "-"], CLEAN.replace("workers", "wokrers").as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, CLEAN));
    let ran = llsd_reads(&["render", "-"], CLEAN.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("base_url: http://vllm:8000/v1"), "{}", ran.out);
}

#[test]
fn render_says_what_is_in_the_way() {
    let folder = Folder::new("render");
    folder.write("wrong.yaml", CLEAN.replace("provider: vllm", "provider: no-such-provider"));
    let ran = folder.llsd(&["render", "wrong.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("--> wrong.yaml:10:"), "{}", ran.err);

    folder.write("two.yaml", format!("{CLEAN}---\n{}", CLEAN.replace("minimal", "other")));
    let ran = folder.llsd(&["render", "two.yaml"]);
    let message = "llsd: two.yaml has several resources; choose one with --name: minimal, other\n";
    assert_eq!((ran.code, ran.err.as_str()), (2, message));
    let ran = folder.llsd(&["render", "two.yaml", "--name", "third"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (2, "llsd: two.yaml has no resource named \"third\"; it has minimal, other\n")
    );
    assert_eq!(folder.llsd(&["render", "two.yaml", "--name", "other"]).code, 0);
}

#[test]
fn render_shows_origins_and_variables() {
    let plain = llsd(&["render", &sample("api-key.yaml")]);
    assert_eq!(plain.code, 0, "{plain:?}");
    let origins = llsd(&["render", "--origins", &sample("api-key.yaml")]);
    assert_eq!(origins.out.lines().count(), plain.out.lines().count());
    assert!(origins.out.lines().all(|line| line.contains(" |")), "{}", origins.out);
    let env = llsd(&["render", "--env", &sample("api-key.yaml")]);
    assert!(env.out.lines().any(|line| line.starts_with("LLSD_") && line.contains("_API_KEY\t")), "{}", env.out);
    // The same bytes every time.
    assert_eq!(llsd(&["render", &sample("api-key.yaml")]).out, plain.out);
}

#[test]
fn every_sample_is_clean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").display().to_string();
    let ran = llsd(&["check", &folder]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

const USER_CONFIG: &str = "apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: old}
spec:
  server:
    distribution: {name: starter}
    userConfig: {configMapName: config}
";

const OVERRIDE: &str = "apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: new}
spec:
  distribution: {name: starter}
  overrideConfig: {configMapName: config}
";

const CONFIG_MAP: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  run.yaml: | # by hand
    version: 2
    image_name: test
    providers:
      inference:
        - provider_id: fast # the team's
          provider_type: remote::vllm
          config: {base_url: http://fast:8000/v1}
";

#[test]
fn the_schema_is_for_other_tools() {
    for version in ["v1alpha1", "v1alpha2"] {
        let ran = llsd(&["schema", version]);
        let schema: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(schema["properties"]["apiVersion"]["enum"][0], format!("llamastack.io/{version}"));
    }
    assert!(llsd(&["schema", "--crd"]).out.contains("kind: CustomResourceDefinition"));
}

#[test]
fn a_closed_pipe_is_no_mistake() {
    let folder = Folder::new("pipe");
    let many: String =
        (0..300).map(|number| format!("---\n{}", CLEAN.replace("vllm", &format!("vllm{number}")))).collect();
    let file = folder.write("many.yaml", many);
    let mut process = crate::support::llsd()
        .args(["check", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("llsd runs");
    drop(process.stdout.take());
    let ran = Ran::from(process.wait_with_output().expect("llsd ends"));
    assert_eq!(ran.err, "");
}

#[test]
fn files_of_a_folder_know_each_other() {
    let folder = Folder::new("together");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {token: x}\n";
    let key = "v1\n        apiKey: {secretKeyRef: {name: keys, key: tokne}}\n";
    let with_key = CLEAN.replace("v1\n", key);
    folder.write("resource.yaml", &with_key);
    assert_eq!(folder.llsd(&["check", "."]).code, 0, "nobody knows the Secret");
    folder.write("sub/secret.yml", secret);
    let ran = folder.llsd(&["check", &folder.path(), "--format", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let found = findings(&ran);
    assert_eq!(found[0]["path"], "spec.providers.inference[0].apiKey.secretKeyRef.key", "{found:?}");
    folder.write("resource.yaml", with_key.replace("tokne", "token"));
    assert_eq!(folder.llsd(&["check", "."]).code, 0);
}

#[test]
fn a_name_that_two_files_have_is_told_with_the_other_place() {
    let folder = Folder::new("namesakes");
    let (one, two) = ("a.yaml", "./b.yaml");
    folder.write(one, CLEAN);
    folder.write(two, format!("# the second\n{CLEAN}"));
    // a kustomization counts that was not named itself
    let kustomization = folder.write("kustomization.yaml", "resources: [a.yaml]\n");
    assert_eq!(findings(&folder.llsd(&["check", "--format", "json", one, two])), Vec::<Value>::new());
    fs::write(&kustomization, "resources: [a.yaml, b.yaml]\n").unwrap();
    // also where the files are named in several ways
    let whole = folder.0.join(one).display().to_string();
    let found = findings(&folder.llsd(&["check", "--format", "json", &whole, two]));
    assert_eq!(found[1]["related"][0]["file"], whole, "{found:?}");
    let (line, column) = (found[1]["start"]["line"].as_u64().unwrap() - 1, &found[1]["start"]["column"]);
    assert_eq!(found[1]["related"][0]["start"], json!({"line": line, "column": column}));
    let ran = folder.llsd(&["check", one, two]);
    assert_eq!(ran.code, 1);
    let place = format!("   = see b.yaml:{}:{column}: The other resource of this name\n", line + 1);
    assert!(ran.out.contains("error[llsd::metadata::duplicate]") && ran.out.contains(&place), "{}", ran.out);
    let sarif: Value = serde_json::from_str(&folder.llsd(&["check", "--format", "sarif", one, two]).out).unwrap();
    let related = &sarif["runs"][0]["results"][0]["relatedLocations"][0];
    assert_eq!(related["physicalLocation"]["region"]["startLine"], json!(line + 1), "{sarif}");
}
