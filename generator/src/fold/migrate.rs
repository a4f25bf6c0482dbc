//! From v1alpha1 to v1alpha2 for good: the fields move, and what a hand-written config or environment variables said
//! is said in the resource.

use super::environment::{Bound, CONFIG_CHOICES, Variables, environment, repeated};
use super::ground::{Ground, Taken};
use super::report::{ConfigChange, Kept, MigrationReport, Note, Why};
use super::{config, quickstart, spec, whole};
use crate::api::{ApiVersion, CONFIG_KEY, Kind};
use crate::check::finding::{Finding, Severity};
use crate::check::{Facts, Request, rules, verdict};
use crate::convert::{self, ConvertError, Unfit, V1ALPHA1_FIELDS, V1ALPHA1_TO_V1ALPHA2, V1ALPHA2_FIELDS};
use crate::document::placeholder;
use crate::path::Path;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What to fold, beyond moving fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The ConfigMap of `userConfig`, if its content is known.
    pub config_map: bool,
    /// Environment variables that the distribution's config reads.
    pub env: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { config_map: true, env: true }
    }
}

/// What the caller knows of the ConfigMap of `userConfig`.
#[derive(Clone, Copy, Debug, Default)]
pub enum UserConfig<'a> {
    /// Whatever the facts of the request hold under the name that the resource refers to.
    #[default]
    AsInFacts,
    /// No file of the workspace has a ConfigMap of this name: it is not folded, and the report says so.
    NotHere,
    /// More than one file has one of this name.
    SeveralFiles,
    /// The ConfigMap's `data`, taken in place of what the facts say.
    Data(&'a BTreeMap<String, String>),
}

/// A resource in v1alpha2, and what is not as it was in v1alpha1.
#[derive(Clone, Debug, PartialEq)]
pub struct Migration {
    /// The whole object in v1alpha2, `metadata` included. Nothing was checked of it beyond what the report says.
    pub value: Value,
    /// Old places and the new places that hold the same, so that comments can follow. A move is of the whole value;
    /// where one lies inside another the inner one counts for its place.
    pub moves: Vec<(Path, Path)>,
    /// What to tell the user.
    pub report: MigrationReport,
}

/// Why a resource was not migrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MigrateError {
    /// The resource cannot be converted: it is of another kind or version, or its annotation is damaged.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// It breaks the schema of its own version, so that fields of it would be lost. What `check` finds.
    #[error("it has errors of its own: {}", .0.iter().map(|one| format!("{}: {}", one.path, one.message)).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Finding>),
}

/// kubectl's copy of what was applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Migrates a v1alpha1 resource with everything folded that can be. A v1alpha2 resource comes back as it is.
///
/// # Errors
/// [`MigrateError`]
pub fn migrate(object: &Value, facts: &Facts) -> Result<Migration, MigrateError> {
    migrate_with(object, facts, UserConfig::AsInFacts, Options::default())
}

/// Migrates a v1alpha1 resource; `options` say what is folded. A folding is made only if nothing that was there gets
/// lost or changes by it, after substitution; else it is left out, and the report says why. What the server has besides
/// is no reason against it. The report compares the whole: config, environment, and every field.
///
/// # Errors
/// [`MigrateError`]
pub fn migrate_with(
    object: &Value,
    facts: &Facts,
    user_config: UserConfig<'_>,
    options: Options,
) -> Result<Migration, MigrateError> {
    let version = ApiVersion::of(object).filter(|version| version.kind() == Kind::LlamaStackDistribution);
    let Some(version) = version else {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        return Err(ConvertError::OtherKind { api_version: text("apiVersion"), kind: text("kind") }.into());
    };
    if version == ApiVersion::V1Alpha2 {
        return Ok(Migration { value: object.clone(), moves: Vec::new(), report: MigrationReport::default() });
    }
    let draft = quickstart::taken_apart(object);
    let object = draft.as_ref().map_or(object, |draft| &draft.plain);
    let errors_before = errors(object, version, facts);
    let invalid: Vec<Finding> = errors_before.iter().filter(|finding| is_of_the_schema(finding)).cloned().collect();
    if !invalid.is_empty() {
        return Err(MigrateError::Invalid(invalid));
    }
    let mut migration = moved(object)?;
    let variables = Variables::of(object);
    let folded = match &draft {
        None => fold(object, &mut migration, &variables, facts, (user_config, options)),
        Some(draft) => {
            draft.put_into(&mut migration.value);
            spec::order(&mut migration.value);
            migration.moves.extend(draft.moves.iter().cloned());
            migration.report.notes.extend(draft.notes.iter().cloned());
            None
        }
    };
    settle(object, &mut migration, &variables, folded);
    let known: BTreeSet<_> = errors_before.iter().map(|finding| finding.rule.id).collect();
    let refused = errors(&migration.value, ApiVersion::V1Alpha2, facts);
    // what the API server says about the result counts also where a rule of ours has said the same of the old resource
    let is_new = |finding: &Finding| finding.api_server_message.is_some() || !known.contains(finding.rule.id);
    migration.report.refused =
        refused.into_iter().filter(|finding| is_new(finding) && !is_only_known_elsewhere(finding)).collect();
    Ok(migration)
}

/// What `check` calls an error.
fn errors(object: &Value, version: ApiVersion, facts: &Facts) -> Vec<Finding> {
    let unknown = to_be_filled_in(object);
    let findings = verdict(&Request { version, value: object, old: None, unknown: &unknown, facts }).findings;
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}

/// Whether an error is one of the resource's shape. A resource that is being written may still lack its name.
fn is_of_the_schema(finding: &Finding) -> bool {
    let of_shape = ["schema", "cel"].contains(&finding.rule.family()) || *finding.rule == rules::distribution::MISSING;
    of_shape && finding.path.starts_with(&Path::parse("spec"))
}

/// Whether the operator that runs may know what this program does not.
fn is_only_known_elsewhere(finding: &Finding) -> bool {
    *finding.rule == rules::distribution::UNKNOWN
}

/// The resource with its fields moved, nothing folded.
fn moved(object: &Value) -> Result<Migration, ConvertError> {
    let value = if convert::kept_for(object, ApiVersion::V1Alpha2).is_empty() {
        // What the new version refuses stays, to be seen: it may be a template's place, or the author may know better.
        convert::translate_as(object, ApiVersion::V1Alpha2, Unfit::Keep)
    } else {
        convert::to_v1alpha2(object)?
    };
    let mut value = value;
    convert::remove_annotation(&mut value, V1ALPHA1_FIELDS);
    convert::remove_annotation(&mut value, V1ALPHA2_FIELDS);
    let mut notes = Vec::new();
    let last_applied = Path::parse("metadata.annotations").key(LAST_APPLIED);
    if last_applied.find(&value).is_some() {
        convert::remove_annotation(&mut value, LAST_APPLIED);
        notes.push(Note::DroppedAnnotation { name: LAST_APPLIED.to_owned() });
    }
    let network = |field: &str| Path::parse("spec.networking").key(field).find(&value).is_some();
    // v1alpha1 lets the router in by having `network` at all
    if Path::parse("spec.network").find(object).is_some_and(Value::is_object)
        && !network("expose")
        && !network("allowedFrom")
        && let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut)
        && let Some(networking) = spec.entry("networking").or_insert_with(|| json!({})).as_object_mut()
    {
        networking.insert("expose".to_owned(), json!({"enabled": false}));
    }
    spec::order(&mut value);

    let mut moves = Vec::new();
    let expose = ("spec.network.exposeRoute", "spec.networking.expose");
    for (old, new) in V1ALPHA1_TO_V1ALPHA2.into_iter().chain([expose]) {
        let (old, new) = (Path::parse(old), Path::parse(new));
        if old.find(object).is_some() && new.find(&value).is_some() {
            moves.push((old, new));
        }
    }
    for section in ["metadata", "status"] {
        if object.get(section).is_some() {
            moves.push((Path::root().key(section), Path::root().key(section)));
        }
    }
    Ok(Migration { report: MigrationReport { notes, ..MigrationReport::default() }, value, moves })
}

/// The text of the user's config, if there is one.
enum Content<'a> {
    None,
    Text { name: &'a str, text: &'a str },
    Not { name: &'a str, why: Why },
}

fn content<'a>(object: &'a Value, facts: &'a Facts, given: UserConfig<'a>) -> Content<'a> {
    let text = |path: &str| Path::parse(path).find(object).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(name) = text("spec.server.userConfig.configMapName") else { return Content::None };
    let own = text("metadata.namespace").or(facts.namespace.as_deref()).unwrap_or_default();
    let named = text("spec.server.userConfig.configMapNamespace");
    if named.is_some_and(|namespace| namespace != own) {
        return Content::Not { name, why: Why::OtherNamespace };
    }
    let data = match given {
        UserConfig::Data(data) => Some(data),
        UserConfig::NotHere => None,
        UserConfig::SeveralFiles => return Content::Not { name, why: Why::SeveralFiles },
        // A ConfigMap file often leaves its namespace to kubectl, as the resource does.
        UserConfig::AsInFacts => facts
            .config_maps
            .as_ref()
            .and_then(|maps| [own, ""].iter().find_map(|place| maps.get(&((*place).to_owned(), name.to_owned())))),
    };
    match data.map(|data| (data.get(CONFIG_KEY), data)) {
        Some((Some(text), _)) => Content::Text { name, text },
        Some((None, data)) => Content::Not { name, why: Why::NoKey { keys: data.keys().cloned().collect() } },
        None => Content::Not { name, why: Why::NotHere },
    }
}

/// What the resource itself says about the server's start, so that a generated config would not count.
fn own_start(object: &Value) -> Option<String> {
    let container = Path::parse("spec.server.containerSpec");
    let filled = |path: &Path| path.find(object).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let named = ["command", "args"].iter().map(|field| container.key(*field)).find(filled);
    let list = |path: &str| Path::parse(path).find(object).and_then(Value::as_array).into_iter().flatten();
    let name = |item: &Value, field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let variable = || {
        let names = list("spec.server.containerSpec.env").map(|item| name(item, "name"));
        names.into_iter().find(|name| CONFIG_CHOICES.contains(&name.as_str()))
    };
    // a file that is mounted over another may be the config of the image
    let mounted = || {
        let paths = list("spec.server.podOverrides.volumeMounts").map(|item| name(item, "mountPath"));
        let config = |path: &String| {
            path.ends_with(".yaml") || path.ends_with(".yml") || path.trim_end_matches('/') == "/etc/llama-stack"
        };
        paths.into_iter().find(config).map(|path| format!("what is mounted at {path}"))
    };
    named.map(|path| path.to_string()).or_else(variable).or_else(mounted)
}

/// Folds what can be folded and says why the rest is not.
fn fold<'a>(
    object: &'a Value,
    migration: &mut Migration,
    variables: &Variables,
    facts: &'a Facts,
    (user_config, options): (UserConfig<'a>, Options),
) -> Option<(Ground, Taken)> {
    let content = content(object, facts, user_config);
    let notes = &mut migration.report.notes;
    let has_env = Path::parse("spec.server.containerSpec.env").find(object).and_then(Value::as_array);
    let has_env = has_env.is_some_and(|list| !list.is_empty());
    let (what, wanted) = match &content {
        Content::None => (Kept::Variables, options.env && has_env),
        Content::Text { name, .. } | Content::Not { name, .. } => {
            (Kept::ConfigMap((*name).to_owned()), options.config_map)
        }
    };
    if !wanted {
        return None;
    }
    let mut keep = |why: Why| {
        notes.push(Note::Kept { what: what.clone(), why });
        None
    };
    if let Some(place) = own_start(object) {
        return keep(Why::OwnStart { place });
    }
    let text = match content {
        Content::None => None,
        Content::Text { name, text } => Some((name, text)),
        Content::Not { why, .. } => return keep(why),
    };
    let Some(ground) = Ground::of(&migration.value) else {
        let name = Path::parse("spec.distribution.name").find(&migration.value).and_then(Value::as_str);
        return keep(Why::NoBase { name: name.map(str::to_owned) });
    };
    let unknown = to_be_filled_in(&migration.value);
    let Some((name, text)) = text else {
        for (name, why) in ground.needed(variables) {
            notes.push(Note::Kept { what: Kept::Variable(name.clone()), why: Why::Bound(why) });
        }
        return match ground.fold_env(&migration.value, variables, (facts, &unknown)) {
            Ok(Some(taken)) => Some((ground, taken)),
            Ok(None) => None,
            Err(why) => {
                notes.push(Note::Kept { what: Kept::Variables, why });
                None
            }
        };
    };
    let Some(theirs) = config::read(text) else { return keep(Why::Unreadable) };
    match ground.fold_config(&migration.value, &theirs, variables, (facts, &unknown)) {
        Ok(taken) => {
            notes.push(Note::Folded { config_map: name.to_owned() });
            migration.moves.retain(|(_, new)| !new.starts_with(&Path::parse("spec.overrideConfig")));
            Some((ground, taken))
        }
        Err(why) => keep(why),
    }
}

/// Takes in what was folded, removes variables that nothing reads any more, and compares the whole.
fn settle(object: &Value, migration: &mut Migration, variables: &Variables, folded: Option<(Ground, Taken)>) {
    let old_list = Path::parse("spec.server.containerSpec.env");
    let new_list = Path::parse("spec.workload.overrides.env");
    let list = old_list.find(object).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_config_folded = folded.as_ref().is_some_and(|(_, taken)| taken.is_config);
    let mut differences = Vec::new();
    let mut unread: BTreeMap<String, Option<Path>> = BTreeMap::new();
    let mut passed_over = Vec::new();
    if let Some((ground, taken)) = folded {
        migration.value = taken.value;
        migration.report.config = ConfigChange::Generated { base: ground.distribution };
        migration.report.notes.extend(taken.renewed.into_iter().map(|(from, to)| Note::Renewed { from, to }));
        differences = taken.differences;
        unread = taken.unread;
        passed_over = taken.passed_over;
    }
    let twice = repeated(list);
    let mut kept = Vec::new();
    let moves = &mut migration.moves;
    moves.retain(|(old, _)| *old != old_list);
    for (position, item) in list.iter().enumerate() {
        let from = old_list.index(position);
        let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
        let again =
            twice.contains(name) && list[position + 1..].iter().any(|other| other.get("name") == item.get("name"));
        let is_used = matches!(variables.bound.get(name), Some(Bound::UsedBy(_)));
        match unread.get(name) {
            _ if again && !is_used => {
                migration.report.notes.push(Note::Dropped { variable: name.to_owned(), repeated: true });
            }
            None => {
                moves.push((from, new_list.index(kept.len())));
                kept.push(item.clone());
            }
            Some(None) => {
                migration.report.notes.push(Note::Dropped { variable: name.to_owned(), repeated: false });
            }
            Some(Some(place)) => {
                migration.report.notes.push(Note::Moved { variable: name.to_owned(), place: place.clone() });
                let reference = from.key("valueFrom").key("secretKeyRef");
                if reference.find(object).is_some() {
                    moves.push((reference, place.key("secretKeyRef")));
                } else {
                    moves.push((from.key("value"), place.clone()));
                }
                moves.push((from, place.clone()));
            }
        }
    }
    if !passed_over.is_empty() {
        migration.report.notes.push(Note::PassedOver { places: passed_over });
    }
    let after = environment(&Value::Array(kept.clone()));
    if kept.len() != list.len() {
        spec::set_env(&mut migration.value, kept);
    }
    let taken_out: BTreeSet<&str> = unread.keys().map(String::as_str).collect();
    differences.extend(whole::environment(&variables.all, &after, &taken_out));
    differences.extend(whole::fields(object, &migration.value, is_config_folded));
    differences.sort_by(|one, other| (one.class, one.part, &one.place).cmp(&(other.class, other.part, &other.place)));
    migration.report.differences = differences;
}

/// The places whose text a template or the author has still to fill in: nothing there is held against a folding.
fn to_be_filled_in(object: &Value) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    let mut open = vec![(Path::root(), object)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::String(text) if placeholder(text).is_some() => {
                found.insert(path);
            }
            Value::Array(items) => open.extend(items.iter().enumerate().map(|(at, item)| (path.index(at), item))),
            Value::Object(fields) => open.extend(fields.iter().map(|(name, field)| (path.key(name.as_str()), field))),
            _ => {}
        }
    }
    found
}
