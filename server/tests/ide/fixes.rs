//! Every fix of every finding: applied, the finding goes, no other comes, comments and layout stay, and the text is
//! still YAML. The table has a text for each fix; the cases of `tests/cases` are gone through as well.

use crate::ide::support::{analyse, apply, v1alpha2};
use expect_test::expect;
use llsd::ide::{self, Analysis, FormatOptions, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Findings that a fix may uncover: what it mends hid what lies below, or it asks for more to be written.
const UNCOVERED: [(&str, &str, &str); 6] = [
    // digits stay digits in a Secret
    ("llsd::secret::plain-text", "Move it into the new Secret", "llsd::env::becomes-number"),
    // what is exposed is seen only where it is written as this version wants it
    ("llsd::draft::expose-boolean", "Write expose", "llsd::expose::no-host"),
    // settings that cannot be read hid what is missing in them
    ("llsd::ogx::broken-settings", "Remove", "llsd::ogx::refused"),
    // the message lists the ids that there are
    ("llsd::provider::duplicate-id", "Give it the id", "llsd::model::unknown-provider"),
    // below a key that nobody knew nothing was looked at
    ("llsd::schema::unknown-field", "Rename", "llsd::schema::unknown-field"),
    ("llsd::schema::unknown-field", "Rename", "llsd::schema::bounds"),
];

/// How often each finding is there: code and message.
fn findings(analysis: &Analysis) -> BTreeMap<(&'static str, String), usize> {
    let mut found = BTreeMap::new();
    for one in analysis.diagnostics() {
        *found.entry((one.code, one.message)).or_default() += 1;
    }
    found
}

/// The comments of a text, each as often as it is there.
fn comments(text: &str) -> Vec<String> {
    let stream = llsd_yaml::Stream::parse(text);
    let of = |located: &llsd_yaml::Located| -> Vec<String> {
        let document = &located.document;
        document
            .comments()
            .iter()
            .map(|comment| document.text()[comment.span.start..comment.span.end].to_owned())
            .collect()
    };
    let mut all: Vec<String> = stream.documents().iter().flat_map(of).collect();
    all.sort();
    all
}

fn is_formatted(analysis: &Analysis) -> bool {
    ide::format(analysis, None, &FormatOptions::default()).is_empty()
}

/// Tries every fix of a text. Returns `code: title` of each, and adds to `faults` what went wrong.
fn tried(name: &str, text: &str, faults: &mut Vec<String>) -> Vec<String> {
    let analysis = analyse(text);
    let before = findings(&analysis);
    let mut titles = Vec::new();
    for action in ide::quick_fixes(&ide::Query::alone(&analysis), Span::new(0, text.len())) {
        let (code, span) = action.fixes.unwrap();
        titles.push(format!("{code}: {}", action.title));
        let new = apply(text, &action.edits);
        let after = analyse(&new);
        let mut fault = |what: String| faults.push(format!("{name}, {code}: {}: {what}\n{new}", action.title));
        let mended = analysis.diagnostics().into_iter().find(|one| one.code == code && one.span == span).unwrap();
        let left = findings(&after);
        let key = (mended.code, mended.message.clone());
        if left.get(&key).copied().unwrap_or_default() >= before[&key] {
            fault(format!("still there: {}", mended.message));
        }
        for (found, count) in &left {
            let allowed = UNCOVERED
                .iter()
                .any(|(fixed, title, new)| *fixed == code && action.title.starts_with(title) && *new == found.0);
            if *count > before.get(found).copied().unwrap_or_default() && !allowed {
                fault(format!("new: {found:?}"));
            }
        }
        let removed: Vec<&str> = action.edits.iter().map(|edit| &text[edit.span.start..edit.span.end]).collect();
        let (old, kept) = (comments(text), comments(&new));
        for comment in old.iter().collect::<BTreeSet<_>>() {
            let count = |all: &[String]| all.iter().filter(|one| *one == comment).count();
            // what is removed takes the comments on it along
            let goes = action.title.starts_with("Remove") && removed.iter().any(|text| text.contains(comment.as_str()));
            if count(&kept) != count(&old) && !goes {
                fault(format!("comment lost: {comment}"));
            }
        }
        if is_formatted(&analysis) && !is_formatted(&after) {
            fault("no longer formatted".to_owned());
        }
        let broken = |analysis: &Analysis| analysis.diagnostics().iter().any(|one| one.code == "llsd::yaml::syntax");
        if broken(&after) && !broken(&analysis) {
            fault("no longer YAML".to_owned());
        }
    }
    titles
}

/// The YAML blocks of the cases, without their marks, each with its heading.
fn cases() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases");
    let mut found = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let page = fs::read_to_string(&path).unwrap();
        let (mut heading, mut block) = (String::new(), None::<String>);
        for line in page.lines() {
            if let Some(text) = line.strip_prefix("## ") {
                heading = format!("{}: {text}", path.file_name().unwrap().to_string_lossy());
            } else if line == "```yaml" {
                block = Some(String::new());
            } else if line == "```" {
                found.extend(block.take().map(|text| (heading.clone(), text.replace("$0", ""))));
            } else if let Some(block) = &mut block
                && !line.strip_prefix('#').is_some_and(|mark| mark.trim_start_matches(['<', ' ']).starts_with('^'))
            {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    found
}

const OLD: &str = "apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: demo # short
  namespace: ns
spec:
  server:
    # all
    distribution: # of it
      name: starter
";

const CONFIG: &str = "---
# ours
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: ns
data:
  # long
  run.yaml: | # old name
    version: 2
    apis: []
";

fn table() -> Vec<(&'static str, String)> {
    let providers = |list: &str| {
        v1alpha2(&format!("# keep\ndistribution:\n  name: starter\nproviders: # these\n  inference:\n{list}# end\n"))
    };
    vec![
        ("ids", providers("    # first\n    - provider: vllm # local\n      endpoint: http://vllm:8000/v1\n    - {provider: openai}\n    - id: vllm\n      provider: vllm\n      endpoint: http://b:8000/v1\n")),
        ("one id twice", providers("    - id: a\n      provider: openai\n    - id: a # again\n      provider: groq\n")),
        ("one implicit id twice", v1alpha2("distribution: {name: starter}\nproviders:\n  inference:\n    - provider: openai\n  safety:\n    - id: openai # same\n      provider: llama-guard\n")),
        ("endpoint", providers("    - provider: vllm # local\n")),
        ("no key", providers("    - provider: openai\n      apiKey: # secret\n        secretKeyRef:\n          name: openai\n")),
        ("no name", providers("    - provider: openai\n      apiKey:\n        secretKeyRef: {key: a}\n")),
        ("no reference", providers("    - provider: openai\n      apiKey: {}\n")),
        ("flat secret", providers("    - provider: openai\n      apiKey:\n        # here\n        name: openai # the name\n        key: token\n")),
        ("url", providers("    - provider: vllm\n      settings:\n        # where\n        url: http://vllm:8000/v1 # there\n        max_tokens: 1\n")),
        ("overridden", providers("    - provider: vllm\n      endpoint: http://vllm:8000/v1\n      settings:\n        max_tokens: 1\n        base_url: http://b:8000/v1\n")),
        ("no path", providers("    - provider: vllm\n      endpoint: http://vllm:8000 # no path\n")),
        ("no scheme", providers("    - provider: vllm\n      endpoint: \"vllm:8000/v1\" # no scheme\n")),
        ("takes neither", providers("    - provider: anthropic\n      # fixed\n      endpoint: https://a.example.com\n    - id: o\n      provider: ollama\n      endpoint: http://ollama:11434/v1\n      apiKey: {secretKeyRef: {name: a, key: b}}\n")),
        ("plain secrets", providers("    - id: My.Open_AI\n      provider: openai # ours\n      settings:\n        # rotated\n        api_key: sk-12345 # hush\n")),
        ("plain secret beside", v1alpha2("distribution: {name: starter}\nproviders:\n  inference:\n    - provider: openai\n      settings: {api_key: sk-12345, base_url: \"https://api.openai.com/v1\"}\nworkload:\n  overrides:\n    env:\n      # loud\n      - name: OTHER_TOKEN\n        # why\n        value: abcdef # what\n") + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: openai-credentials\n"),
        ("plain secret of old", format!("{OLD}    containerSpec:\n      env:\n        - {{name: OPENAI_API_KEY, value: \"sk-1: #\"}}\n")),
        ("old names", OLD.replace("name: starter", "nam: starter")),
        ("config key", format!("{OLD}    userConfig:\n      configMapName: config # below\n{CONFIG}")),
        ("same namespace", format!("{OLD}    userConfig:\n      configMapName: config\n      configMapNamespace: ns\n{}", CONFIG.replace("run.yaml", "config.yaml"))),
        ("env twice", format!("{OLD}    containerSpec:\n      env:\n        # one\n        - name: LOG\n          value: a\n        # two\n        - name: LOG\n          value: b\n")),
        ("env unread", format!("{OLD}    containerSpec:\n      env:\n        - name: VLLM_API_URL # typo\n          value: http://vllm:8000/v1\n")),
        ("env types", format!("{OLD}    containerSpec:\n      env:\n        - name: MAX\n          value: 4096 # many\n        - name: ON\n          value: yes # of course\n")),
        ("both names", v1alpha2("distribution:\n  name: starter # this\n  image: quay.io/x/y:0.4.7 # or that\n")),
        ("no distribution", v1alpha2("# nothing\ndisabled: [eval]\n")),
        ("exclusive", v1alpha2("distribution: {name: starter}\n# own\noverrideConfig:\n  configMapName: mine\n# or\ndisabled:\n  - eval\n")),
        ("disabled", v1alpha2("distribution: {name: starter}\nproviders:\n  # keep\n  inference:\n    - provider: openai\n  safety:\n    - provider: llama-guard\ndisabled:\n  # off\n  - eval\n  - safety # not this\n")),
        ("disabled but needed", v1alpha2("distribution: {name: starter}\ndisabled: [eval, vector_io]\n")),
        ("storage", v1alpha2("distribution: {name: starter}\nstorage:\n  kv:\n    endpoint: redis:6379 # there\n  sql:\n    type: sqlite # small\n    connectionString: {secretKeyRef: {name: pg, key: url}}\n")),
        ("tls", v1alpha2("distribution: {name: starter}\nnetworking:\n  tls:\n    # cert\n    secretName: mine\n")),
        ("tls off", v1alpha2("distribution: {name: starter}\nnetworking:\n  tls:\n    enabled: false # for now\n    secretName: mine\n")),
        ("scaling", v1alpha2("distribution: {image: \"quay.io/x/y:0.4.7\"}\nworkload:\n  autoscaling:\n    minReplicas: 3\n    maxReplicas: 2 # few\n  podDisruptionBudget:\n    minAvailable: 1\n    maxUnavailable: 1\n")),
        ("scaling without limit", v1alpha2("distribution: {image: \"quay.io/x/y:0.4.7\"}\nworkload:\n  autoscaling:\n    minReplicas: 3\n")),
        ("types", v1alpha2("distribution: {name: starter}\nnetworking:\n  port: \"8400\" # text\n  tls:\n    enabled: \"false\"\nresources:\n  tools: websearch # one\n")),
        ("labels", v1alpha2("distribution: {name: starter}\nnetworking:\n  allowedFrom:\n    labels:\n      - team=ai # ours\n")),
        ("name with dots", v1alpha2("distribution: {name: starter}\n").replace("name: demo", "name: a.b # dots")),
        ("nearest", v1alpha2("distribution:\n  name: startr # short\nnetworkin:\n  # open\n  prot: 8400\n").replace("kind: LlamaStackDistribution", "kind: LlamaStackDistributon")),
        ("groups", v1alpha2("distribution: {name: starter}\n").replace("llamastack.io/v1alpha2", "llamastack.ai/v1alpha2 # old")),
        ("misplaced", v1alpha2("distribution: {name: starter}\n# one\nreplicas: 1 # pod\n")),
        ("models", v1alpha2("distribution: {name: starter}\nproviders:\n  inference:\n    - id: small\n      provider: openai\nresources:\n  models:\n    # mine\n    - name: m\n      provider: smal # short\n")),
        ("deprecated", v1alpha2("distribution: {name: starter}\nproviders:\n  vectorIo:\n    # still\n    - provider: inline::meta-reference # old\n      settings:\n        persistence: {backend: kv_default, namespace: x}\n")),
        ("drafts", v1alpha2("distribution: {name: starter}\nproviders:\n  # one\n  inference: # only\n    provider: vllm\n    host: http://vllm:8000/v1 # there\nresources:\n  models:\n    - \"m\" # small\nnetworking:\n  expose: true # open\n")),
        ("secret names", v1alpha2("distribution: {name: starter}\nproviders:\n  inference:\n    - provider: openai\n      apiKey:\n        secretKeyRef:\n          name: openai\n          key: tokn # typo\n") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: openai}\nstringData: {token: a}\n"),
        ("in a list", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: llamastack.io/v1alpha2\n  kind: LlamaStackDistribution\n  metadata: {name: a}\n  spec:\n    # keep\n    distribution: {name: starter}\n    networking: {prot: 8400}\n    providers:\n      inference:\n      - provider: openai\n        # hush\n        settings: {api_key: sk-12345}\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: b}\n".to_owned()),
    ]
}

#[test]
fn every_fix_mends_its_finding_and_nothing_else() {
    let mut faults = Vec::new();
    let mut titles = BTreeSet::new();
    for (name, text) in table() {
        let found = tried(name, &text, &mut faults);
        assert!(!found.is_empty(), "{name}: nothing to fix\n{:#?}\n{text}", analyse(&text).diagnostics());
        titles.extend(found);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let titles: Vec<String> = titles.into_iter().map(|title| title + "\n").collect();
    expect![[r#"
        llsd::cel::rule: Add the missing id
        llsd::cel::rule: Add the missing ids
        llsd::cel::rule: Enable TLS
        llsd::cel::rule: Raise maxReplicas to 3
        llsd::cel::rule: Remove connectionString
        llsd::cel::rule: Remove disabled
        llsd::cel::rule: Remove endpoint
        llsd::cel::rule: Remove image
        llsd::cel::rule: Remove maxUnavailable
        llsd::cel::rule: Remove minAvailable
        llsd::cel::rule: Remove name
        llsd::cel::rule: Remove overrideConfig
        llsd::cel::rule: Remove secretName
        llsd::cel::rule: Set type to postgres
        llsd::cel::rule: Set type to redis
        llsd::config::missing-key: Rename run.yaml of ConfigMap "config" to config.yaml
        llsd::config::same-namespace: Remove it
        llsd::disabled::has-providers: Remove "safety" from disabled
        llsd::disabled::required: Remove it from disabled
        llsd::distribution::unknown: Change to "starter"
        llsd::draft::expose-boolean: Write expose: {}
        llsd::draft::flat-secret: Wrap in secretKeyRef
        llsd::draft::model-string: Write name: m
        llsd::draft::provider-object: Make inference a list
        llsd::endpoint::no-path: Append /v1
        llsd::endpoint::no-scheme: Put http:// in front
        llsd::env::duplicate: Remove the other entry
        llsd::env::unread: Change to VLLM_URL
        llsd::kind::unknown-kind: Change to "LlamaStackDistribution"
        llsd::kind::wrong-group: Change to "llamastack.io/v1alpha2"
        llsd::metadata::name: Change to "a-b"
        llsd::model::unknown-provider: Change to "small"
        llsd::networking::label-value: Change to "team"
        llsd::provider::deprecated-type: Change to "inline::faiss"
        llsd::provider::duplicate-id: Give it the id "a-2"
        llsd::provider::duplicate-id: Give it the id "openai-2"
        llsd::provider::duplicate-id: Give it the id "vllm-2"
        llsd::provider::missing-setting: Add an endpoint
        llsd::provider::no-api-key: Remove it
        llsd::provider::no-endpoint: Remove it
        llsd::reference::no-key: Add key "tokn" to Secret "openai"
        llsd::reference::no-key: Change to "token"
        llsd::schema::misplaced-field: Move to spec.workload.replicas
        llsd::schema::required: Add distribution
        llsd::schema::required: Add key
        llsd::schema::required: Add maxReplicas
        llsd::schema::required: Add name
        llsd::schema::required: Add secretKeyRef
        llsd::schema::type: Make it a list
        llsd::schema::type: Put it in quotes
        llsd::schema::type: Write 8400, without quotes
        llsd::schema::type: Write false, without quotes
        llsd::schema::unknown-field: Rename "nam" to "name"
        llsd::schema::unknown-field: Rename "networkin" to "networking"
        llsd::schema::unknown-field: Rename "prot" to "port"
        llsd::secret::plain-text: Move it into Secret "openai-credentials"
        llsd::secret::plain-text: Move it into the new Secret "demo-env"
        llsd::secret::plain-text: Move it into the new Secret "my-open-ai-credentials"
        llsd::secret::plain-text: Move it into the new Secret "openai-credentials"
        llsd::secret::plain-text: Move it into the new Secret "openai-credentials-2"
        llsd::settings::overridden: Remove it, as it has no effect
        llsd::settings::unknown-key: Move to endpoint
        llsd::settings::unknown-key: Rename to "base_url"
    "#]]
    .assert_eq(&titles.concat());
}

#[test]
fn the_cases_too() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (name, text) in cases() {
        count += tried(&name, &text, &mut faults).len();
    }
    assert!(count > 30, "{count}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
