//! Circles inside the crates: modules that know each other, directly or through others, can only be understood together.
//! The baseline is exact, so that a new circle shows in a diff, and one that is gone cannot come back unseen.

use expect_test::expect;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The modules of a crate, each with those that it names by a path that starts with `crate`, `super` or `self`. What a
/// module calls of its own children, by their bare names, is no reason to know them apart.
fn modules(source: &str) -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join(source);
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut open = vec![root.clone()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a readable folder").flatten().map(|entry| entry.path()));
            continue;
        }
        let inside = path.strip_prefix(&root).expect("inside").with_extension("");
        let steps: Vec<String> = inside.iter().map(|step| step.to_string_lossy().into_owned()).collect();
        let name = steps.join("::");
        files.insert(name.strip_suffix("::mod").unwrap_or(&name).to_owned(), path);
    }
    let known: BTreeSet<&String> = files.keys().collect();
    let resolve = |steps: &[String]| {
        let mut candidates = (1..=steps.len()).rev().map(|count| steps[..count].join("::"));
        candidates.find(|name| known.contains(name))
    };
    let uses = |(name, path): (&String, &PathBuf)| {
        let text = fs::read_to_string(path).expect("a readable file");
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: Vec<_> = shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let named = paths(name, &code.join("\n"));
        let named = named.iter().filter_map(|steps| resolve(steps)).filter(|other| other != name);
        (name.clone(), named.collect())
    };
    files.iter().map(uses).collect()
}

/// The paths from the crate's root that the code of a module names.
fn paths(module: &str, code: &str) -> Vec<Vec<String>> {
    static START: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(crate|super|self)((?:::[a-zA-Z_0-9]+)*)(::\{)?").expect("a pattern"));
    let own: Vec<String> =
        if module == "lib" || module == "main" { Vec::new() } else { module.split("::").map(str::to_owned).collect() };
    let mut found = Vec::new();
    for part in START.captures_iter(code) {
        let mut at = if &part[1] == "crate" { Vec::new() } else { own.clone() };
        if &part[1] == "super" {
            at.pop();
        }
        for step in part[2].split("::").filter(|step| !step.is_empty()) {
            match step {
                "super" => drop(at.pop()),
                step => at.push(step.to_owned()),
            }
        }
        match part.get(3) {
            None => found.push(at),
            Some(brace) => {
                for item in items(&code[brace.end()..]) {
                    let steps = item.split('{').next().unwrap_or_default().split("::");
                    let steps = steps.map(str::trim).filter(|step| !step.is_empty() && *step != "self");
                    found.push(at.iter().cloned().chain(steps.map(str::to_owned)).collect());
                }
            }
        }
    }
    found
}

/// The items of a group whose opening brace has been read.
fn items(code: &str) -> Vec<String> {
    let (mut items, mut depth) = (vec![String::new()], 0);
    for char in code.chars() {
        match char {
            '}' if depth == 0 => break,
            ',' if depth == 0 => items.push(String::new()),
            char => {
                depth += i32::from(char == '{') - i32::from(char == '}');
                items.last_mut().expect("one at least").push(char);
            }
        }
    }
    items
}

/// The modules that each module reaches.
fn reached(modules: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<&String, BTreeSet<&String>> {
    let from = |start| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(module) = open.pop() {
            open.extend(modules[module].iter().filter(|next| seen.insert(*next)));
        }
        (start, seen)
    };
    modules.keys().map(from).collect()
}

/// The circles of a crate, a line each.
fn circles(source: &str) -> String {
    let modules = modules(source);
    assert!(modules.len() > 10, "{source}: {modules:?}");
    let reached = reached(&modules);
    let mut lines = BTreeSet::new();
    for (module, others) in reached.iter().filter(|(module, others)| others.contains(*module)) {
        let circle: Vec<&str> =
            others.iter().filter(|other| reached[**other].contains(module)).map(|other| other.as_str()).collect();
        lines.insert(format!("{source}: {}\n", circle.join(" ")));
    }
    lines.into_iter().collect()
}

#[test]
fn modules_know_each_other_in_these_circles_only() {
    let crates = ["generator/crd/src", "generator/src", "generator/yaml/src", "operator/src", "server/src"];
    let found: String = crates.iter().map(|source| circles(source)).collect();
    expect![[r#"
        generator/crd/src: cel schema
        generator/crd/src: cel::eval cel::library cel::library::convert cel::library::lists cel::library::print cel::library::semver cel::library::strings cel::program cel::value
        generator/src: check check::context check::finding check::rule check::rules check::rules::disabled check::rules::distribution check::rules::duplicate_id check::rules::generation check::rules::model_provider check::rules::provider_fields check::rules::provider_type check::rules::schema check::rules::secret_in_settings check::rules::secret_variable check::rules::server_config check::rules::settings check::rules::substitution config ogx ogx::custom ogx::generate ogx::rules ogx::rules::refused ogx::verdict
        generator/src: config::places config::schema
        generator/src: fold::meaning fold::provider
        generator/src: generate::draft generate::error generate::providers generate::secrets
        generator/yaml/src: block_scalar decode
        generator/yaml/src: parse::block parse::skipped
        operator/src: controller reconcile
        operator/src: resources::account resources::deployment resources::external
        operator/src: webhooks webhooks::certificates webhooks::listener
        server/src: ide::cluster ide::config ide::diagnostic_chunks ide::diagnostics ide::document ide::facts ide::file ide::fix ide::names ide::semantic_tokens ide::workspace
        server/src: ide::format::comments ide::format::layout
        server/src: lsp::backend lsp::builds lsp::capabilities lsp::cluster lsp::configuration lsp::diagnostics_json lsp::files lsp::handlers lsp::handlers::code_action lsp::handlers::edits lsp::handlers::execute_command lsp::handlers::semantic_tokens lsp::progress lsp::publish lsp::workspace_files
    "#]].assert_eq(&found);
}

/// Lower floors of each crate, and what stands above them.
const FLOORS: [(&str, &[&str], &[&str]); 6] = [
    (
        "generator/src",
        &["api", "catalog", "distribution", "document", "validated"],
        &["check", "convert", "fold", "generate"],
    ),
    ("generator/src", &["generate", "convert"], &["check::rules", "fold"]),
    ("generator/src", &["check"], &["fold", "convert"]),
    (
        "server/src",
        &["ide::objects", "ide::changed", "ide::types", "ide::memo"],
        &["ide::workspace", "ide::file", "ide::document"],
    ),
    ("server/src", &["cluster"], &["lsp", "cli"]),
    ("server/src", &["built", "surroundings"], &["lsp", "cli"]),
];

#[test]
fn lower_floors_do_not_know_those_above() {
    let is_in = |module: &str, floor: &str| module == floor || module.starts_with(&format!("{floor}::"));
    let mut wrong = Vec::new();
    for (source, lower, upper) in FLOORS {
        let modules = modules(source);
        for floor in lower.iter().chain(upper) {
            assert!(modules.keys().any(|module| is_in(module, floor)), "{source} has no {floor}");
        }
        for (module, named) in modules.iter().filter(|(module, _)| lower.iter().any(|floor| is_in(module, floor))) {
            let above = named.iter().filter(|other| upper.iter().any(|floor| is_in(other, floor)));
            wrong.extend(above.map(|other| format!("{source}: {module} names {other}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
