//! From v1alpha1 to v1alpha2 for good: the fields move, and what a hand-written config or environment variables said
//! is said in the resource.

use super::config::{self, Env, Source, environment};
use super::meaning::{Difference, compare, meaning};
use super::spec::{self, Attempt};
use crate::api::{ApiVersion, KIND, crd, v1alpha2::Distribution};
use crate::catalog::Catalog;
use crate::check::finding::Severity;
use crate::check::{Facts, Request, verdict};
use crate::convert::{self, ConvertError, Unfit, V1ALPHA1_FIELDS, V1ALPHA1_TO_V1ALPHA2, V1ALPHA2_FIELDS};
use crate::distribution::{Distributions, version_of_image};
use crate::document::placeholder;
use crate::generate::{Base, CONFIG_KEY, EnvSource, Generated};
use crate::path::{Path, Segment};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What to fold, beyond moving fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The ConfigMap of `userConfig`, if the facts have it.
    pub config_map: bool,
    /// Environment variables that the distribution's config reads.
    pub env: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { config_map: true, env: true }
    }
}

/// A migrated resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Migration {
    /// The resource in v1alpha2.
    pub value: Value,
    /// Old places and the new places that hold the same, so that comments can follow. A move is of the whole value;
    /// where one lies inside another the inner one counts for its place.
    pub moves: Vec<(Path, Path)>,
    /// What to tell the user.
    pub report: MigrationReport,
}

/// What a migration did, and whether the server will notice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MigrationReport {
    /// What was folded and what was not, in sentences without a full stop.
    pub notes: Vec<String>,
    /// Fields of the old resource that have no place in the new version.
    pub lost: Vec<Difference>,
    /// The server's config before and after.
    pub config: ConfigChange,
}

/// What became of the server's config.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ConfigChange {
    /// It comes from where it came from before: a ConfigMap, or the image.
    #[default]
    Untouched,
    /// It is generated now, and means the same.
    Same,
    /// It is generated now, and differs in exactly these places.
    Differs(Vec<Difference>),
}

/// Migrates a v1alpha1 resource with everything folded that can be. A v1alpha2 resource comes back as it is.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions.
pub fn migrate(object: &Value, facts: &Facts) -> Result<Migration, ConvertError> {
    migrate_with(object, facts, Options::default())
}

/// Migrates a v1alpha1 resource; `options` say what is folded. A folding after which no config could be generated is
/// left out, and the report says why.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions.
pub fn migrate_with(object: &Value, facts: &Facts, options: Options) -> Result<Migration, ConvertError> {
    let Some(version) = ApiVersion::of(object) else {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        return Err(ConvertError::OtherKind { api_version: text("apiVersion"), kind: text("kind") });
    };
    if version == ApiVersion::V1Alpha2 {
        return Ok(Migration { value: object.clone(), moves: Vec::new(), report: MigrationReport::default() });
    }
    let mut migration = moved(object)?;
    let Some(ground) = Ground::of(&migration.value) else { return Ok(migration) };
    match user_config(object, facts) {
        UserConfig::None if options.env => ground.fold_env(object, &mut migration, facts),
        UserConfig::Known { name, text } if options.config_map => match config::read(&text) {
            Some(theirs) => ground.fold_config(object, &mut migration, facts, (&name, &theirs)),
            None => {
                migration.report.notes.push(format!("ConfigMap \"{name}\" stays: its {CONFIG_KEY} is not readable"))
            }
        },
        UserConfig::Unknown { name } if options.config_map => {
            migration.report.notes.push(format!("ConfigMap \"{name}\" stays: its content is not known here"));
        }
        _ => {}
    }
    Ok(migration)
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
    Ok(Migration { report: MigrationReport { lost: lost(object, &value), ..MigrationReport::default() }, value, moves })
}

/// What the old resource says and the new one cannot: defaults and empty containers say nothing.
fn lost(object: &Value, value: &Value) -> Vec<Difference> {
    let back = convert::translate(value, ApiVersion::V1Alpha1);
    let says = |path: &Path, value: &Value| {
        let schema = crd::schema_at(ApiVersion::V1Alpha1, path);
        let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
        !empty && !value.is_null() && schema.and_then(|schema| schema.get("default")) != Some(value)
    };
    convert::differences(&back, object)
        .into_iter()
        .filter(|kept| kept.path.first().is_some_and(|first| first == "spec"))
        .filter_map(|kept| {
            let path: Path = kept.path.into_iter().map(Segment::Key).collect();
            let before = kept.to.filter(|value| says(&path, value))?;
            Some(Difference { place: path.to_string(), before: Some(brief(&before)), after: None })
        })
        .collect()
}

/// A value in a few words: what is inside an object or a list may be long, and nobody's business.
fn brief(value: &Value) -> String {
    match value {
        Value::Object(_) => "{…}".to_owned(),
        Value::Array(_) => "[…]".to_owned(),
        scalar => scalar.to_string(),
    }
}

/// What `userConfig` points to.
enum UserConfig {
    None,
    Known { name: String, text: String },
    Unknown { name: String },
}

fn user_config(object: &Value, facts: &Facts) -> UserConfig {
    let text = |path: &str| Path::parse(path).find(object).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(name) = text("spec.server.userConfig.configMapName") else { return UserConfig::None };
    let own = text("metadata.namespace").or(facts.namespace.as_deref()).unwrap_or_default();
    let namespace = text("spec.server.userConfig.configMapNamespace").unwrap_or(own);
    let unknown = UserConfig::Unknown { name: name.to_owned() };
    // A ConfigMap file often leaves its namespace to kubectl, as the resource does.
    let places = [namespace, ""];
    let found = facts.config_maps.as_ref().and_then(|maps| {
        places.iter().find_map(|place| maps.get(&((*place).to_owned(), name.to_owned()))?.get(CONFIG_KEY))
    });
    match found {
        Some(content) => UserConfig::Known { name: name.to_owned(), text: content.clone() },
        None => unknown,
    }
}

/// Why a folding was not accepted.
struct Refusal {
    /// The place in the folded resource.
    path: Path,
    message: String,
}

impl Refusal {
    fn new(message: &str) -> Self {
        Self { path: Path::root(), message: message.to_owned() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path != Path::root() {
            write!(out, "{}: ", self.path)?;
        }
        out.write_str(&self.message)
    }
}

/// What a folding starts from.
struct Ground {
    /// The base config of the distribution.
    base: Value,
    /// What the distribution's llama-stack knows.
    catalog: Option<&'static Catalog>,
    /// The variables of the container.
    env: Env,
}

impl Ground {
    /// `None` where no base config is known: nothing can be generated then.
    fn of(value: &Value) -> Option<Self> {
        let spec = value.get("spec")?;
        if spec.get("providers").is_some() {
            return None;
        }
        let distribution: Distribution = serde_json::from_value(spec.get("distribution")?.clone()).ok()?;
        let base = Base::embedded(&distribution).ok()?;
        let known = Distributions::embedded().get(distribution.name.as_deref()?).ok()?;
        let version = version_of_image(&known.image).unwrap_or_else(|| known.llama_stack_version.clone());
        let env = Path::parse("spec.workload.overrides.env").find(value).map(environment).unwrap_or_default();
        Some(Self { base: config::read(&base.text)?, catalog: Catalog::for_version(&version), env })
    }

    fn fold_env(&self, object: &Value, migration: &mut Migration, facts: &Facts) {
        let attempt = spec::from_env(&self.base, &self.env, self.catalog);
        if attempt.is_empty() {
            return;
        }
        match self.take(&migration.value, &attempt, facts) {
            Ok(result) => self.settle(object, migration, &attempt, result, &self.base),
            Err(refusal) => {
                migration.report.notes.push(format!("Environment variables stay as they are: {refusal}"));
            }
        }
    }

    fn fold_config(&self, object: &Value, migration: &mut Migration, facts: &Facts, (name, theirs): (&str, &Value)) {
        let mut attempt = spec::from_config(theirs, &self.base, &self.env, self.catalog);
        // An API that a provider of the base needs cannot be disabled; it stays, and is reported as a difference.
        let mut result = self.take(&migration.value, &attempt, facts);
        while let Err(refusal) = &result {
            if !attempt.enable(&refusal.path) {
                break;
            }
            result = self.take(&migration.value, &attempt, facts);
        }
        match result {
            Ok(result) => {
                migration.moves.retain(|(_, new)| !new.starts_with(&Path::parse("spec.overrideConfig")));
                let note = format!("ConfigMap \"{name}\" is folded into the resource, which no longer uses it");
                migration.report.notes.push(note);
                self.settle(object, migration, &attempt, result, theirs);
            }
            Err(refusal) => migration.report.notes.push(format!("ConfigMap \"{name}\" stays: {refusal}")),
        }
    }

    /// The resource with the attempt's fields, and the config generated from it; or why there is none.
    fn take(&self, value: &Value, attempt: &Attempt, facts: &Facts) -> Result<(Value, Generated), Refusal> {
        if attempt.is_empty() {
            return Err(Refusal::new("the resource cannot say more than the distribution's own config"));
        }
        let mut value = value.clone();
        attempt.put_into(&mut value);
        // A file being written may lack a name; the config does not depend on it.
        let mut judged = value.clone();
        if judged["metadata"].get("name").is_none() {
            judged["metadata"] = json!({"name": KIND.to_lowercase()});
        }
        // How the server runs and is reached decides nothing in the config, and what is wrong there is no reason not to
        // fold. A port goes into the config, but it was the server's port before, by its environment.
        if let Some(spec) = judged["spec"].as_object_mut() {
            spec.retain(|name, _| !["workload", "networking"].contains(&name.as_str()));
        }
        let unknown = to_be_filled_in(&judged);
        let version = ApiVersion::V1Alpha2;
        let outcome = verdict(&Request { version, value: &judged, old: None, unknown: &unknown, facts });
        let error = outcome.findings.iter().find(|finding| finding.severity == Severity::Error);
        match (outcome.generated, error) {
            (Some(generated), None) => Ok((value, generated)),
            (_, Some(finding)) => Err(Refusal { path: finding.path.clone(), message: finding.message.clone() }),
            _ => Err(Refusal::new("no config can be generated")),
        }
    }

    /// Accepts a folding: removes the variables that nothing reads any more, completes moves and report.
    fn settle(
        &self,
        object: &Value,
        migration: &mut Migration,
        attempt: &Attempt,
        (value, generated): (Value, Generated),
        before: &Value,
    ) {
        let unread: BTreeMap<&str, Path> = attempt
            .taken()
            // The SDK of AWS reads its variables by itself.
            .filter(|(name, _)| !name.starts_with("AWS_") && !still_read(name, generated.config.text()))
            .collect();
        migration.value = value;
        let old_list = Path::parse("spec.server.containerSpec.env");
        let new_list = Path::parse("spec.workload.overrides.env");
        migration.moves.retain(|(old, _)| *old != old_list);
        let mut kept = Vec::new();
        for (position, item) in old_list.find(object).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let from = old_list.index(position);
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            match unread.get(name) {
                None => {
                    migration.moves.push((from, new_list.index(kept.len())));
                    kept.push(item.clone());
                }
                Some(place) => {
                    migration.report.notes.push(format!("{name} becomes {place}"));
                    let reference = from.key("valueFrom").key("secretKeyRef");
                    if reference.find(object).is_some() {
                        migration.moves.push((reference, place.key("secretKeyRef")));
                    } else {
                        migration.moves.push((from.key("value"), place.clone()));
                    }
                    migration.moves.push((from, place.clone()));
                }
            }
        }
        spec::set_env(&mut migration.value, kept);

        let mut after_env = self.env.clone();
        after_env.retain(|name, _| !unread.contains_key(name.as_str()));
        for variable in &generated.env {
            let source = match &variable.source {
                EnvSource::Secret(secret) => Source::Secret { name: secret.name.clone(), key: secret.key.clone() },
                EnvSource::Derived(secret) => Source::Elsewhere(format!("{}/{}", secret.name, secret.key)),
            };
            after_env.insert(variable.name.clone(), source);
        }
        let after = config::read(generated.config.text()).unwrap_or_default();
        let differences =
            compare(&meaning(before, &self.env, self.catalog), &meaning(&after, &after_env, self.catalog));
        migration.report.config =
            if differences.is_empty() { ConfigChange::Same } else { ConfigChange::Differs(differences) };
    }
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

/// Whether a config still reads a variable, under exactly this name.
fn still_read(name: &str, text: &str) -> bool {
    text.match_indices(&format!("${{env.{name}")).any(|(at, found)| {
        text[at + found.len()..].chars().next().is_none_or(|next| !next.is_ascii_alphanumeric() && next != '_')
    })
}
