//! A migrated resource gives the real llama-stack what it had before, but for what the migration says.
//!
//! `LLSD_MIGRATE_FOLDERS` names further folders, separated by colons, whose resources are tried like those of `samples`.
//! `LLSD_MIGRATE_TABLE` names a file for the table of what was found.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use llsd_generator::api::ApiVersion;
use llsd_generator::check::{Facts, Request, verdict};
use llsd_generator::distribution::BaseConfig;
use llsd_generator::fold::{Class, MigrationReport, Note, UserConfig, migrate_with};
use llsd_generator::generate::EnvSource;
use llsd_tests::llama_stack::{python, scripts};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::samples::root;

/// What a server is started with.
struct Server {
    config: String,
    env: Vec<Value>,
}

/// A resource before and after its migration, to be compared by llama-stack.
struct Pair {
    name: String,
    before: Server,
    after: Server,
    report: MigrationReport,
}

#[derive(Deserialize)]
struct Found {
    name: String,
    /// Values that llama-stack reads afterwards.
    read: usize,
    differences: Vec<Difference>,
}

#[derive(Deserialize)]
struct Difference {
    place: String,
    before: Value,
    after: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} becomes {}", self.place, self.before, self.after)
    }
}

#[test]
fn both_servers_read_the_same_but_for_what_was_announced() {
    let mut table =
        String::from("| resource | values read | differ | announced as | result |\n|---|---|---|---|---|\n");
    let mut pairs = Vec::new();
    for folder in folders() {
        for file in files(&folder) {
            let text = std::fs::read_to_string(&file).unwrap();
            let shown = file.strip_prefix(folder.parent().unwrap()).unwrap().display().to_string();
            for (number, outcome) in pairs_of(&text).into_iter().enumerate() {
                let name = format!("{shown} ({number})");
                match outcome {
                    Ok(pair) => pairs.push(Pair { name, ..pair }),
                    Err(why) => _ = writeln!(table, "| {name} | | | | {} |", why.replace('\n', " ").replace('|', "/")),
                }
            }
        }
    }
    assert!(pairs.len() >= 2, "samples has resources of v1alpha1 with a known config");
    let mut wrong = Vec::new();
    for (found, pair) in compared(&pairs).into_iter().zip(&pairs) {
        let unannounced = found.differences.iter().filter(|one| !is_announced(one, &pair.report));
        let unannounced: Vec<String> = unannounced.map(ToString::to_string).collect();
        let classes: Vec<String> = [Class::Loss, Class::Change, Class::Added]
            .into_iter()
            .map(|class| (class, pair.report.differences.iter().filter(|one| one.class == class).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(class, count)| format!("{count} {}", class.word()))
            .collect();
        let result =
            if unannounced.is_empty() { "as announced".to_owned() } else { unannounced.join("; ").replace('|', "/") };
        let (read, differ, said) = (found.read, found.differences.len(), classes.join(", "));
        let _ = writeln!(table, "| {} | {read} | {differ} | {said} | {result} |", found.name);
        if !unannounced.is_empty() {
            wrong.push(format!("{}: {unannounced:#?}", found.name));
        }
    }
    if let Some(path) = std::env::var_os("LLSD_MIGRATE_TABLE") {
        std::fs::write(path, &table).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether the report names the place, or the thing that it belongs to.
fn is_announced(difference: &Difference, report: &MigrationReport) -> bool {
    let passed_over = report.notes.iter().flat_map(|note| match note {
        Note::PassedOver { places } => places.clone(),
        _ => Vec::new(),
    });
    let said = report.differences.iter().map(|one| one.place.clone()).chain(passed_over);
    said.into_iter().any(|place| {
        difference.place == place
            || difference.place.strip_prefix(&place).is_some_and(|rest| rest.starts_with(['.', '[']))
    })
}

fn folders() -> Vec<PathBuf> {
    let others = std::env::var("LLSD_MIGRATE_FOLDERS").unwrap_or_default();
    let others = others.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from);
    std::iter::once(root().join("samples")).chain(others).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"));
    found.sort();
    found
}

/// The resources of v1alpha1 in a text, migrated; or why they were not, or cannot be compared.
fn pairs_of(text: &str) -> Vec<Result<Pair, String>> {
    let documents: Result<Vec<Value>, _> = serde_yaml::Deserializer::from_str(text).map(Value::deserialize).collect();
    let Ok(documents) = documents else {
        let has_one = text.contains("kind: LlamaStackDistribution") && text.contains("/v1alpha1");
        return if has_one { vec![Err("not well-formed".to_owned())] } else { Vec::new() };
    };
    let mut objects = Vec::new();
    for document in documents {
        match document.get("items").or_else(|| document.get("objects")).and_then(Value::as_array) {
            Some(items) => objects.extend(items.clone()),
            None => objects.push(document),
        }
    }
    let older = objects.iter().filter(|object| ApiVersion::of(object) == Some(ApiVersion::V1Alpha1));
    older.map(|object| pair(object, &objects)).collect()
}

fn pair(object: &Value, objects: &[Value]) -> Result<Pair, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&object["spec"]["server"]["userConfig"]["configMapName"]);
    let here = objects.iter().find(|one| one["kind"] == "ConfigMap" && one["metadata"]["name"] == name.as_str());
    let data: Option<BTreeMap<String, String>> = here.map(|map| {
        map["data"].as_object().into_iter().flatten().map(|(key, value)| (key.clone(), text(value))).collect()
    });
    let user_config = data.as_ref().map_or(UserConfig::NotHere, UserConfig::Data);
    let migration = migrate_with(object, &Facts::default(), user_config, Default::default())
        .map_err(|why| format!("not migrated: {why}"))?;
    if let Some(refused) = migration.report.refused.first() {
        return Err(format!("not migrated: {}: {}", refused.path, refused.message));
    }
    if migration.report.notes.iter().any(|note| matches!(note, Note::Draft { .. })) {
        return Err("migrated; a draft was never served, so there is nothing to compare".to_owned());
    }
    let distribution = text(&object["spec"]["server"]["distribution"]["name"]);
    let own = || data.as_ref().and_then(|data| data.get("config.yaml").or_else(|| data.get("run.yaml"))).cloned();
    let base = || BaseConfig::embedded(&distribution).map(str::to_owned);
    let before = if name.is_empty() { base() } else { own() };
    let mut before = before.ok_or_else(|| "migrated; the config is not in the file, and untouched".to_owned())?;
    // llama-stack 0.4.7 refuses a config without a name, which says nothing else
    if !before.contains("image_name:") {
        before.push_str("\nimage_name: unnamed\n");
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let env = list(&migration.value["spec"]["workload"]["overrides"]["env"]);
    let (facts, unknown) = Default::default();
    let request =
        Request { version: ApiVersion::V1Alpha2, value: &migration.value, old: None, unknown: &unknown, facts: &facts };
    let after = match verdict(&request).generated {
        Some(made) => {
            let secrets = made.env.iter().map(|variable| match &variable.source {
                EnvSource::Secret(secret) | EnvSource::Derived(secret) => json!({
                    "name": variable.name,
                    "valueFrom": {"secretKeyRef": {"name": secret.name, "key": secret.key}},
                }),
            });
            Server { config: made.config.text().to_owned(), env: secrets.chain(env).collect() }
        }
        None if migration.value["spec"].get("providers").is_some() => {
            return Err("migrated, but nothing is generated".to_owned());
        }
        None => Server { config: before.clone(), env },
    };
    let before = Server { config: before, env: list(&object["spec"]["server"]["containerSpec"]["env"]) };
    Ok(Pair { name: String::new(), before, after, report: migration.report })
}

fn compared(pairs: &[Pair]) -> Vec<Found> {
    let server = |server: &Server| json!({"config": server.config, "env": server.env});
    let input: Value = pairs
        .iter()
        .map(|pair| json!({"name": pair.name, "before": server(&pair.before), "after": server(&pair.after)}))
        .collect();
    let mut child = Command::new(python())
        .arg(scripts().join("effective.py"))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.to_string().as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<Found> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), pairs.len(), "effective.py failed:\n{}", String::from_utf8_lossy(&output.stderr));
    found
}
