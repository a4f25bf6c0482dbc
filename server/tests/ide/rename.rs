//! Renaming: what changes, what is refused, and that it can be undone.

use crate::ide::files::Files;
use crate::ide::support::{shown, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide::{self, Severity};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The lines that change, `-` before and `+` after; or why nothing may.
fn check(fixture: &str, name: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (query, at) = files.asked();
    expected.assert_eq(&match ide::rename(&query, at, name) {
        Ok(edits) => difference(&files, &files.edited(&edits)),
        Err(refused) => format!("{refused}\n"),
    });
}

fn difference(files: &Files, after: &BTreeMap<Arc<str>, String>) -> String {
    let mut lines = String::new();
    for (name, new) in after {
        let (old, new): (Vec<_>, Vec<_>) = (files.text(name).lines().collect(), new.lines().collect());
        let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let rest = old.len().min(new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
        let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
        if old.len() == new.len() {
            for (number, (old, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
                lines.push_str(&format!(
                    "{name}:{} - {old}\n{name}:{} + {new}\n",
                    head + number + 1,
                    head + number + 1
                ));
            }
        } else {
            lines.extend(old.iter().map(|line| format!("{name} - {line}\n")));
            lines.extend(new.iter().map(|line| format!("{name} + {line}\n")));
        }
    }
    lines
}

fn prepared(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (query, at) = files.asked();
    let (name, _) = files.cursor.clone().unwrap();
    expected.assert_eq(&match ide::prepare_rename(&query, at) {
        Ok((span, placeholder)) => format!("{} as {placeholder:?}\n", shown(files.text(&name), span)),
        Err(refused) => format!("{refused}\n"),
    });
}

const SPEC: &str = "\
distribution:
  name: starter
providers:
  inference:
    - id: \"main\" # the team's
      provider: vllm
      endpoint: http://vllm:8000/v1
      apiKey:
        secretKeyRef:
          name: vllm
          key: 'token'
    - id: other
      provider: openai
resources:
  models:
    - name: llama
      provider: main
    - {name: gpt, provider: main}
  tools:
    - mcp::files
    - websearch
  shields:
    - llama-guard
workload:
  overrides:
    env:
      - name: CUSTOM
        value: a
      - name: OPENAI_BASE_URL
        value: http://a
";

const SECRET: &str = "\
#- secret.yaml
# the token
apiVersion: v1
kind: Secret
metadata:
  name: vllm   # keep
stringData:
  token: x
";

fn spec(from: &str, to: &str) -> String {
    assert!(SPEC.contains(from), "{from}");
    v1alpha2(&SPEC.replacen(from, to, 1))
}

#[test]
fn a_provider_id_changes_with_its_models() {
    check(
        &spec("id: \"main\"", "id: \"ma$0in\""),
        "first",
        expect![[r#"
        main.yaml:10 -       - id: "main" # the team's
        main.yaml:10 +       - id: "first" # the team's
        main.yaml:22 -         provider: main
        main.yaml:22 +         provider: first
        main.yaml:23 -       - {name: gpt, provider: main}
        main.yaml:23 +       - {name: gpt, provider: first}
    "#]],
    );
    check(
        &spec("provider: main", "provider: $0main"),
        "123",
        expect![[r#"
        main.yaml:10 -       - id: "main" # the team's
        main.yaml:10 +       - id: "123" # the team's
        main.yaml:22 -         provider: main
        main.yaml:22 +         provider: "123"
        main.yaml:23 -       - {name: gpt, provider: main}
        main.yaml:23 +       - {name: gpt, provider: "123"}
    "#]],
    );
    prepared(
        &spec("id: \"main\"", "id: \"ma$0in\""),
        expect![[r#"
        10:14-10:18 main as "main"
    "#]],
    );
}

#[test]
fn an_implicit_id_becomes_one() {
    let text = "distribution:\n  name: starter\nproviders:\n  inference:\n    # ours\n    - provider: remote::pass$0through # p\n      endpoint: http://a/v1\nresources:\n  models:\n    - name: a\n      provider: passthrough\n";
    check(
        &v1alpha2(text),
        "main",
        expect![[r#"
        main.yaml -       - provider: remote::passthrough # p
        main.yaml -         endpoint: http://a/v1
        main.yaml -   resources:
        main.yaml -     models:
        main.yaml -       - name: a
        main.yaml -         provider: passthrough
        main.yaml +       - id: main
        main.yaml +         provider: remote::passthrough # p
        main.yaml +         endpoint: http://a/v1
        main.yaml +   resources:
        main.yaml +     models:
        main.yaml +       - name: a
        main.yaml +         provider: main
    "#]],
    );
    prepared(
        &v1alpha2(text),
        expect![[r#"
        11:27-11:38 passthrough as "passthrough"
    "#]],
    );
    let flow = "distribution: {name: starter}\nproviders: {inference: [{provider: passthrough, endpoint: 'http://a/v1'}]}\nresources: {models: [{name: a, provider: passth$0rough}]}\n";
    check(
        &v1alpha2(flow),
        "main",
        expect![[r#"
        main.yaml:7 -   providers: {inference: [{provider: passthrough, endpoint: 'http://a/v1'}]}
        main.yaml:7 +   providers: {inference: [{id: main, provider: passthrough, endpoint: 'http://a/v1'}]}
        main.yaml:8 -   resources: {models: [{name: a, provider: passthrough}]}
        main.yaml:8 +   resources: {models: [{name: a, provider: main}]}
    "#]],
    );
}

#[test]
fn secrets_and_keys_change_in_all_files() {
    let other = "#- other.yaml\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      imagePullSecrets: [{name: vllm}]\n";
    check(
        &format!("{}{SECRET}{other}", spec("name: vllm", "name: vl$0lm")),
        "tokens.v1",
        expect![[r#"
        main.yaml:15 -             name: vllm
        main.yaml:15 +             name: tokens.v1
        other.yaml:6 -       imagePullSecrets: [{name: vllm}]
        other.yaml:6 +       imagePullSecrets: [{name: tokens.v1}]
        secret.yaml:5 -   name: vllm   # keep
        secret.yaml:5 +   name: tokens.v1   # keep
    "#]],
    );
    check(
        &format!("{}{}{other}", spec("name: vllm", "name: vllm"), SECRET.replace("  token", "  to$0ken")),
        "api-key",
        expect![[r#"
            main.yaml:16 -             key: 'token'
            main.yaml:16 +             key: 'api-key'
            secret.yaml:7 -   token: x
            secret.yaml:7 +   api-key: x
        "#]],
    );
}

#[test]
fn other_names_of_the_resource() {
    check(
        &spec("name: llama", "name: lla$0ma"),
        "meta-llama/Llama-3.2-3B",
        expect![[r#"
        main.yaml:21 -       - name: llama
        main.yaml:21 +       - name: meta-llama/Llama-3.2-3B
    "#]],
    );
    check(
        &spec("- mcp::files", "- mcp::$0files"),
        "search",
        expect![[r#"
            main.yaml:25 -       - mcp::files
            main.yaml:25 +       - mcp::search
        "#]],
    );
    check(
        &spec("name: CUSTOM", "name: CUST$0OM"),
        "OWN",
        expect![[r#"
        main.yaml:32 -         - name: CUSTOM
        main.yaml:32 +         - name: OWN
    "#]],
    );
}

#[test]
fn a_config_in_a_config_map() {
    let config = "#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  config.yaml: |\n    version: 2\n    providers:\n      inference:\n      - provider_id: \"${env.URL:+vllm}\"\n        provider_type: remote::vllm\n        config: {base_url: \"${env.URL:=x}\"}\n    models:\n    - {model_id: m, provider_id: vl$0lm}\n";
    let resource = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  distribution: {name: starter}\n  overrideConfig: {configMapName: c}\n  workload:\n    overrides:\n      env:\n        - {name: URL, value: x}\n";
    check(
        &format!("{resource}{config}"),
        "main",
        expect![[r#"
        config.yaml:9 -       - provider_id: "${env.URL:+vllm}"
        config.yaml:9 +       - provider_id: "${env.URL:+main}"
        config.yaml:13 -     - {model_id: m, provider_id: vllm}
        config.yaml:13 +     - {model_id: m, provider_id: main}
    "#]],
    );
    check(
        &format!("{}{}", resource.replace("name: URL", "name: U$0RL"), config.replace("vl$0lm", "vllm")),
        "VLLM",
        expect![[r#"
        config.yaml:9 -       - provider_id: "${env.URL:+vllm}"
        config.yaml:9 +       - provider_id: "${env.VLLM:+vllm}"
        config.yaml:11 -         config: {base_url: "${env.URL:=x}"}
        config.yaml:11 +         config: {base_url: "${env.VLLM:=x}"}
        main.yaml:10 -         - {name: URL, value: x}
        main.yaml:10 +         - {name: VLLM, value: x}
    "#]],
    );
    check(
        &format!("{resource}{}", config.replace("vl$0lm", "vllm").replace("config.yaml: |", "con$0fig.yaml: |")),
        "x.yaml",
        expect![[r#"
        The key "config.yaml" is known by this name outside these files
    "#]],
    );
    check(
        &format!("{}{}", resource.replace("configMapName: c", "configMapName: $0c"), config.replace("vl$0lm", "vllm")),
        "d",
        expect![[r#"
        config.yaml:3 - metadata: {name: c}
        config.yaml:3 + metadata: {name: d}
        main.yaml:6 -   overrideConfig: {configMapName: c}
        main.yaml:6 +   overrideConfig: {configMapName: d}
    "#]],
    );
}

#[test]
fn what_stands_at_an_anchor_is_changed_there() {
    let text = "distribution:\n  name: starter\nproviders:\n  inference:\n    - id: &id main\n      provider: vllm\n      endpoint: http://a/v1\nresources:\n  models:\n    - name: a\n      provider: *i$0d\n";
    check(
        &v1alpha2(text),
        "first",
        expect![[r#"
        main.yaml:10 -       - id: &id main
        main.yaml:10 +       - id: &id first
    "#]],
    );
    let text = "distribution:\n  name: starter\nproviders:\n  inference:\n    - id: &id main\n      provider: vllm\n      endpoint: http://a/v1\n      settings: {x: *id}\n    - provider: openai\n      id: o\nresources:\n  models:\n    - name: &model a\n      provider: o\n    - name: b\n      provider: ma$0in\n      modelType: *id\n";
    check(
        &v1alpha2(text),
        "first",
        expect![[r#"
        main.yaml:10 -       - id: &id main
        main.yaml:10 +       - id: &id first
        main.yaml:21 -         provider: main
        main.yaml:21 +         provider: first
    "#]],
    );
}

#[test]
fn refused_with_a_reason() {
    let refuse = |text: String, name: &str| {
        let files = Files::new(&text);
        let (query, at) = files.asked();
        ide::rename(&query, at, name).map(|edits| edits.len()).map_err(|refused| refused.to_string())
    };
    let with_secret = |from: &str, to: &str| format!("{}{SECRET}", spec(from, to));
    let mut found = String::new();
    let mut note = |what: &str, text: String, name: &str| {
        let answer = refuse(text, name);
        found.push_str(&format!("{what}: {}\n", answer.map_or_else(|reason| reason, |files| format!("{files} files"))));
    };
    note("taken", spec("provider: main", "provider: ma$0in"), "other");
    note("taken in the base", spec("provider: main", "provider: ma$0in"), "groq");
    note("same", spec("provider: main", "provider: ma$0in"), "main");
    note("empty", spec("provider: main", "provider: ma$0in"), " ");
    note("template", spec("provider: main", "provider: ma$0in"), "{{ .x }}");
    note("of the base", spec("provider: main", "provider: op$0enai"), "own");
    note("replaces the base", spec("- websearch", "- web$0search"), "own");
    note("read by the base", spec("name: OPENAI_BASE_URL", "name: OPENAI_$0BASE_URL"), "URL");
    note("not a variable", spec("name: CUSTOM", "name: CUS$0TOM"), "custom");
    note("distribution", spec("name: starter", "name: star$0ter"), "own");
    note("resource", spec("distribution", "distribution").replace("name: demo", "name: de$0mo"), "own");
    note("undeclared", spec("name: vllm", "name: vl$0lm"), "own");
    note("no secret name", with_secret("name: vllm", "name: vl$0lm"), "Own_Secret");
    note("no key", with_secret("key: 'token'", "key: 'to$0ken'"), "a/b");
    note(
        "taken secret",
        with_secret("name: vllm", "name: vl$0lm")
            + "---\n"
            + &SECRET.replace("#- secret.yaml\n", "").replace("name: vllm", "name: own"),
        "own",
    );
    let twice = with_secret("name: vllm", "name: vllm")
        + &SECRET.replace("secret.yaml", "second.yaml").replace("name: vllm", "name: vl$0lm");
    note("ambiguous", twice, "own");
    let generated =
        with_secret("name: vllm", "name: vl$0lm").replace("# the token", "# Code generated by x. DO NOT EDIT.");
    note("generated", generated, "own");
    note("served otherwise", spec("- mcp::files", "- mcp::$0files"), "builtin::files");
    note("too long", spec("provider: main", "provider: ma$0in"), &"x".repeat(64));
    note(
        "variables clash",
        spec("provider: main", "provider: ma$0in")
            .replace("provider: openai", "provider: openai\n      apiKey: {secretKeyRef: {name: o, key: k}}"),
        "Other",
    );
    note("nothing", spec("providers:", "provi$0ders:"), "own");
    expect![[r#"
        taken: There is a provider "other" already
        taken in the base: There is a provider "groq" already
        same: 0 files
        empty: " " cannot be the name of the provider: it is empty
        template: "{{ .x }}" cannot be the name of the provider: blanks and the signs { } < > $ have no place in it
        of the base: Provider "openai" comes with the base config of distribution "starter", which cannot be changed
        replaces the base: Tool group "websearch" replaces the one of the base config of distribution "starter": with another name it would be a second one
        read by the base: The base config of distribution "starter" reads the environment variable "OPENAI_BASE_URL" by this name
        not a variable: "custom" cannot be the name of the environment variable: llama-stack reads only A-Z, 0-9 and _, with no digit in front
        distribution: Distribution "starter" is known by this name outside these files
        resource: Resource "demo" is known by this name outside these files
        undeclared: Secret "vllm" is in no file of the workspace: its references would point at another one
        no secret name: "Own_Secret" cannot be the name of the Secret: it takes lower-case letters, digits, - and ., with a letter or digit at both ends, 253 at most
        no key: "a/b" cannot be the name of the key of the Secret: it takes letters, digits, -, _ and ., 253 at most
        taken secret: There is a Secret "own" already
        ambiguous: Secret "vllm" is declared in several files, and main.yaml does not say which one it means
        generated: secret.yaml is generated, so that a change would be lost
        served otherwise: "builtin::files" cannot be the name of the tool group: what stands in front of :: says what serves the group, and cannot change with its name
        too long: With this name the resource would be wrong: longer than 63 characters
        variables clash: With this name the resource would be wrong: spec.providers.inference[0].apiKey and spec.providers.inference[1].apiKey would both become the environment variable LLSD_OTHER_API_KEY. Change one of the ids
        nothing: There is no name here that could be changed
    "#]].assert_eq(&found);
}

/// Every place that can be renamed, and what it could be called.
fn fresh(name: &str) -> String {
    let variable = name.chars().all(|char| char.is_ascii_uppercase() || char == '_');
    match name.rsplit_once("::") {
        Some((served, _)) => format!("{served}::fresh-0"),
        None if variable => "FRESH_0".to_owned(),
        None => "fresh-0".to_owned(),
    }
}

fn findings(files: &Files, from: &str, to: &str) -> Vec<String> {
    let mut all = Vec::new();
    for name in ["main.yaml", "secret.yaml"] {
        for one in files.analysis(name).diagnostics().into_iter().filter(|one| one.severity != Severity::Hint) {
            all.push(format!("{} {}", one.code, one.message.replace(from, to)));
        }
    }
    all.sort();
    all
}

/// Breaks some of the form that a file may have, without a change of meaning.
fn styled(text: &str, crlf: bool, wide: bool) -> String {
    let text = if wide {
        text.replace("http://vllm:8000/v1", "http://vllm:8000/v1 # \u{e9}\u{1F999}")
    } else {
        text.to_owned()
    };
    if crlf { text.replace('\n', "\r\n") } else { text }
}

/// Renames everything that can be renamed in files of this form, and back again.
fn there_and_back(crlf: bool, wide: bool, broken: bool) {
    let mut main = v1alpha2(SPEC);
    if broken {
        main = main.replace("  shields:", "  shelds:");
    }
    let secret = SECRET.split_once('\n').unwrap().1;
    let texts: BTreeMap<Arc<str>, String> = [("main.yaml", main.as_str()), ("secret.yaml", secret)]
        .map(|(name, text)| (name.into(), styled(text, crlf, wide)))
        .into();
    let files = Files::of(&texts);
    let mut renamed = Vec::new();
    for name in ["main.yaml", "secret.yaml"] {
        let text = files.text(name);
        let mut next = 0;
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let query = files.about(name);
            let Ok((span, old)) = ide::prepare_rename(&query, at) else { continue };
            assert_eq!(text[span.start..span.end], old);
            assert!(span.start <= at && at <= span.end);
            // each name once
            if span.start < next {
                continue;
            }
            next = span.end + 1;
            let new = fresh(&old);
            let edits = ide::rename(&query, at, &new).unwrap_or_else(|refused| panic!("{old}: {refused}"));
            let after = Files::of(&files.edited(&edits));
            assert_eq!(findings(&files, &old, &new), findings(&after, &old, &new), "{old}");
            let own = edits.iter().filter(|file| *file.file == *name).flat_map(|file| &file.edits);
            let before = own.filter(|edit| edit.span.end < span.start);
            let moved: isize =
                before.map(|edit| edit.new_text.len() as isize - (edit.span.end - edit.span.start) as isize).sum();
            let there = span.start.checked_add_signed(moved).unwrap();
            let back =
                ide::rename(&after.about(name), there, &old).unwrap_or_else(|refused| panic!("{old}: {refused}"));
            assert_eq!(after.edited(&back), texts, "{old}");
            renamed.push(old);
        }
    }
    renamed.sort();
    renamed.dedup();
    assert_eq!(renamed, ["CUSTOM", "gpt", "llama", "main", "mcp::files", "other", "token", "vllm"]);
}

#[test]
fn a_fresh_name_and_back_is_no_change() {
    for form in 0..8 {
        there_and_back(form & 1 > 0, form & 2 > 0, form & 4 > 0);
    }
}
