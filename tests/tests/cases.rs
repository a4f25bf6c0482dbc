//! Runs `tests/cases/*.md`: each YAML block is a file, and the marks below its lines are what the editor and
//! `llsd check` have to say about it. `UPDATE_EXPECT=1` rewrites the marks and the blocks of answers.
//!
//! ````text
//! ```yaml
//! spec:
//!   prot: 1
//! # ^^^^ error[llsd::schema::unknown-field]: …
//! ```
//! ````
//!
//! A mark's carets stand below what it speaks of; `#<` begins a mark for text at the left margin. A block may hold the
//! cursor `$0`; then the block ```` ```offers ```` behind it lists what is offered there. A block ```` ```fixed ````
//! is the file after all preferred fixes, ```` ```migrated ```` after migration, ```` ```status ```` what the operator
//! tells of its first resource.

use llsd::ide::{self, Analysis, Diagnostic, MigrateOptions, Severity, Workspace};
use llsd_generator::convert::to_v1alpha2;
use llsd_generator::document::Plain;
use llsd_yaml::Stream;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Offers written down at most.
const OFFERS: usize = 6;

static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^#[< ]*\^+ (error|warning|information|hint)\[").unwrap());

/// Rules that need what no single file has, each with what that is.
const ELSEWHERE: [(&str, &str); 15] = [
    ("llsd::kustomize::directive", "a kustomization that takes the file as a patch"),
    ("llsd::kustomize::operation", "a kustomization that takes the file as a patch"),
    ("llsd::provider::missing-api", "a base config without that API; the embedded ones serve all"),
    ("llsd::provider::unchecked", "the labels of an image of an unknown version"),
    ("llsd::reference::name-hash", "a kustomization that lists the file"),
    ("llsd::reference::not-found", "all Secrets of the namespace, which only a cluster knows"),
    ("llsd::distribution::no-base-config", "the labels of the image"),
    ("llsd::distribution::label-version", "the labels of the image"),
    ("llsd::distribution::unusable-base-config", "the labels of the image"),
    ("llsd::config::overridden", "a caller that asks for a config all the same"),
    ("llsd::schema::alternatives", "a schema with `oneOf` or `anyOf`"),
    ("llsd::schema::metadata", "a schema with embedded objects"),
    ("llsd::schema::format", "a schema with formats"),
    ("llsd::schema::duplicate-key", "a schema with lists whose items have keys"),
    ("llsd::cel::error", "a rule that fails to run"),
];

fn files() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn every_case_holds() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for (path, text) in files() {
        let (now, count) = answered(&text);
        cases += count;
        if now == text {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, now).unwrap();
        } else {
            let line = text.lines().zip(now.lines()).position(|(old, new)| old != new).unwrap_or_default();
            let new = now.lines().nth(line).unwrap_or_default();
            wrong.push(format!("{}:{}: now {new:?}", path.display(), line + 1));
        }
    }
    assert!(cases >= 25, "{cases}");
    assert!(wrong.is_empty(), "UPDATE_EXPECT=1 rewrites the cases\n{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let all: String = files().into_iter().map(|(_, text)| text).collect();
    let missing: Vec<_> = llsd_generator::check::rules::all()
        .iter()
        .map(|rule| rule.id)
        .filter(|id| !all.contains(&format!("[{id}]")) && !ELSEWHERE.iter().any(|(known, _)| known == id))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The page with all answers as they are now, and its number of cases.
fn answered(page: &str) -> (String, usize) {
    let mut out = String::new();
    let mut cases = 0;
    let mut file = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match kind {
            "yaml" => {
                cases += 1;
                file = body.iter().filter(|line| !MARK.is_match(line)).map(|line| format!("{line}\n")).collect();
                out.push_str(&marked(&file));
            }
            "offers" => out.push_str(&offers(&file)),
            "fixed" => out.push_str(&fixed(&file)),
            "migrated" => out.push_str(&migrated(&file)),
            "status" => out.push_str(&status(&file)),
            _ => body.iter().for_each(|line| _ = writeln!(out, "{line}")),
        }
        out.push_str("```\n");
    }
    (out, cases)
}

fn analyse(text: &str) -> Analysis {
    ide::analyse(text.into(), None, &Workspace::new())
}

/// The file with a mark below each line that something is said about.
fn marked(file: &str) -> String {
    let cursor = file.find("$0");
    let text = file.replacen("$0", "", 1);
    let found = analyse(&text).diagnostics();
    let said: BTreeSet<_> =
        found.iter().map(|one| (one.code.to_owned(), one.path.clone(), one.message.clone())).collect();
    assert_eq!(said, checked(&text), "the editor and `llsd check` differ:\n{text}");
    let mut out = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        match cursor.filter(|at| (start..start + line.len()).contains(at)) {
            Some(at) => {
                out.push_str(&line[..at - start]);
                out.push_str("$0");
                out.push_str(&line[at - start..]);
            }
            None => out.push_str(line),
        }
        for one in found.iter().filter(|one| (start..start + line.len()).contains(&one.span.start)) {
            out.push_str(&mark(&text, start, one));
        }
        start += line.len();
    }
    out
}

fn mark(text: &str, line: usize, found: &Diagnostic) -> String {
    let column = text[line..found.span.start].chars().count();
    let length = text[found.span.start..found.span.end].lines().next().unwrap_or_default().chars().count().max(1);
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "information",
        Severity::Hint => "hint",
    };
    let lead = if column == 0 { "#<".to_owned() } else { format!("#{}", " ".repeat(column - 1)) };
    format!("{lead}{} {severity}[{}]: {}\n", "^".repeat(length), found.code, found.message.replace('\n', " "))
}

/// Rule, path and message of what `llsd check` finds.
fn checked(text: &str) -> BTreeSet<(String, String, String)> {
    let mut child = Command::new(llsd_tests::llsd::binary())
        .args(["check", "--format", "json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let report: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let word = |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|one| (word(one, "rule"), word(one, "path"), word(one, "message"))).collect()
}

fn offers(file: &str) -> String {
    let at = file.find("$0").expect("offers need a cursor");
    let text = file.replacen("$0", "", 1);
    let items = ide::complete(&analyse(&text), at);
    items.iter().take(OFFERS).map(|item| format!("{}  {}\n", item.label, item.detail).replace("  \n", "\n")).collect()
}

fn fixed(file: &str) -> String {
    let mut text = file.to_owned();
    // a fix may make room for the next one
    for _ in 0..4 {
        text = apply(&text, ide::fix_all(&analyse(&text)));
    }
    text
}

fn migrated(file: &str) -> String {
    let analysis = analyse(file);
    let documents = analysis.resources().into_iter().map(|resource| resource.document).collect::<BTreeSet<_>>();
    let edits = documents.into_iter().map(|document| {
        let about = ide::Query::alone(&analysis);
        ide::migrate(&about, document, MigrateOptions::default()).unwrap_or_else(|why| panic!("{why}\n{file}"))
    });
    apply(file, edits.flat_map(|migrated| migrated.edits).collect())
}

/// The conditions of the file's first resource that are False, as it is stored.
fn status(file: &str) -> String {
    let stream = Stream::parse(file);
    let values = stream.documents().iter().map(|document| Plain::read(&document.document).value);
    let resource = values.filter_map(|value| to_v1alpha2(&value).ok()).next().expect("a resource");
    crate::status::conditions(&resource).expect("a name")
}

fn apply(text: &str, mut edits: Vec<ide::TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.span.start..edit.span.end, &edit.new_text);
    }
    text
}
