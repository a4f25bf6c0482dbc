//! From a `LlamaStackDistribution` of either version to an `OGXServer`. There is no conversion upstream: it is a clean
//! break. Source: both CRDs, both operators and the servers of both, run.
//!
//! Nothing is invented, and nothing gets lost without a word: what has no place in the new resource, or would mean
//! something else there, is told, the losses first.

mod config;
mod fields;
mod pod;
mod providers;
mod told;

pub use config::Mounted;
pub use told::{Class, Told};

use super::rules::adoption;
use crate::api::{ApiVersion, Kind};
use crate::check::facts::Facts;
use crate::check::finding::{Finding, Severity};
use crate::check::{Request, Validated, verdict};
use crate::document::placeholder;
use crate::generate::{Base, BaseSource, ConfigSource, Generated, generate, target};
use crate::path::Path;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What a migration is to reach.
#[derive(Clone, Debug)]
pub struct Options {
    /// The version of ogx that will run.
    pub version: &'static str,
    /// Whether the new resource has the name of the old one. Else it has another name, and adopts volume and Service.
    pub same_name: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { version: super::versions::newest(), same_name: false }
    }
}

/// An `OGXServer`, and what it does not have of the resource that it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Migration {
    /// The whole `OGXServer`, `metadata` included.
    pub value: Value,
    /// Old places and the new places that hold the same, so that comments can follow.
    pub moves: Vec<(Path, Path)>,
    /// What to tell, the losses first.
    pub told: Vec<Told>,
    /// The objects that have to carry the label by which the new operator sees them.
    pub labelled: Vec<(crate::check::ReferenceKind, String)>,
    /// The config that both resources mount. It is one of llama-stack, and has to be rewritten with the resource.
    pub config: Option<Mounted>,
}

/// Why a resource was not migrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MigrateError {
    /// It is of another kind.
    #[error("it is no LlamaStackDistribution of llamastack.io/v1alpha1 or v1alpha2")]
    OtherKind,
    /// It breaks the rules of its own version, so that nobody knows what it means.
    #[error("it has errors of its own, see `llsd check`: {}", listed(.0))]
    Invalid(Vec<Finding>),
    /// The API server would refuse what would come of it.
    #[error("the API server would refuse the result: {}", listed(.0))]
    Refused(Vec<Finding>),
}

fn listed(findings: &[Finding]) -> String {
    let shown: Vec<String> = findings.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
    shown.join("; ")
}

/// Sections that went elsewhere as a whole, so that comments on them can follow.
const SECTIONS: [(&str, &str); 4] = [
    ("spec.network", "network"),
    ("spec.networking", "network"),
    ("spec.networking.tls", "tls.trust"),
    ("spec.server.tlsConfig", "tls.trust"),
];

/// The state of a migration.
struct Draft<'a> {
    /// The version of the old resource.
    from: ApiVersion,
    /// The whole resource as it was, in the version `from`.
    old: &'a Value,
    facts: &'a Facts,
    options: &'a Options,
    /// The `spec` of the `OGXServer`, as far as it has been written.
    spec: Value,
    moves: Vec<(Path, Path)>,
    told: Vec<Told>,
    config: Option<Mounted>,
}

impl<'a> Draft<'a> {
    /// The value at a dotted place of the old resource, unless it is null.
    fn get(&self, place: &str) -> Option<&'a Value> {
        Path::parse(place).find(self.old).filter(|value| !value.is_null())
    }

    /// Sets a value at a dotted place below the new `spec`.
    fn set(&mut self, place: &str, value: Value) {
        let mut at = &mut self.spec;
        for step in place.split('.') {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[step];
        }
        *at = value;
    }

    /// Moves a value as it is.
    fn carry(&mut self, from: &str, to: &str) {
        if let Some(value) = self.get(from) {
            self.set(to, value.clone());
            self.note_move(from, to);
        }
    }

    fn note_move(&mut self, from: &str, to: &str) {
        self.moves.push((Path::parse(from), Path::parse("spec").below(to)));
    }

    fn tell(&mut self, class: Class, place: impl Into<String>, message: impl Into<String>) {
        self.told.push(Told { class, place: place.into(), message: message.into() });
    }
}

/// Migrates a resource. `unknown`: places that a template fills in, which stay as they are written; `facts` are what the
/// caller knows of the objects that it names.
///
/// # Errors
/// It is of another kind, is not valid, or what would come of it is not.
pub fn migrate(
    object: &Value,
    unknown: &BTreeSet<Path>,
    facts: &Facts,
    options: &Options,
) -> Result<Migration, MigrateError> {
    let version = ApiVersion::of(object).filter(|version| version.kind() == Kind::LlamaStackDistribution);
    let version = version.ok_or(MigrateError::OtherKind)?;
    let outcome = verdict(&Request { version, value: object, old: None, unknown, facts });
    let broken: Vec<Finding> = outcome.findings.iter().filter(|finding| is_broken(finding)).cloned().collect();
    if !broken.is_empty() {
        return Err(MigrateError::Invalid(broken));
    }
    let (moves, told) = (Vec::new(), Vec::new());
    let mut draft = Draft { from: version, old: object, facts, options, spec: json!({}), moves, told, config: None };
    fields::distribution(&mut draft);
    config::carry(&mut draft);
    if let Some(generated) = outcome.generated.as_ref().or(of_unknown_base(outcome.model.as_ref()).as_ref()) {
        providers::carry(&mut draft, generated);
    } else if version == ApiVersion::V1Alpha2 && draft.get("spec.overrideConfig").is_none() {
        for field in ["providers", "resources", "storage", "disabled"] {
            if draft.get(&format!("spec.{field}")).is_some() {
                let message =
                    "no config can be generated from the old resource, so nobody knows what it means: see `llsd check`";
                draft.tell(Class::Loss, format!("spec.{field}"), message);
            }
        }
    }
    fields::network(&mut draft);
    fields::certificates(&mut draft);
    pod::workload(&mut draft);
    for (from, to) in SECTIONS {
        draft.note_move(from, to);
    }
    let metadata = metadata(&mut draft);
    let value = json!({
        "apiVersion": ApiVersion::OgxV1Beta1.api_version(),
        "kind": Kind::OgxServer.name(),
        "metadata": metadata,
        "spec": draft.spec,
    });
    finish(value, draft)
}

/// The config of a resource whose base config is in its image: what the resource itself says of it.
fn of_unknown_base(model: Option<&Validated>) -> Option<Generated> {
    let model = model.filter(|model| ConfigSource::of(model.spec()) == ConfigSource::Generated)?;
    let base = Base { text: "version: 2\n".into(), source: BaseSource::Given };
    generate(model, &base, target(model.spec()).0).ok()
}

/// Whether a finding says that the resource cannot be read, and not that an object or the cluster lacks something.
fn is_broken(finding: &Finding) -> bool {
    finding.severity == Severity::Error && finding.rule.family() == "schema"
}

/// Judges the result as the API server does.
fn finish(value: Value, draft: Draft<'_>) -> Result<Migration, MigrateError> {
    let (mut unknown, facts) = (BTreeSet::new(), Facts::default());
    to_fill(&value, &Path::root(), &mut unknown);
    let request =
        Request { version: ApiVersion::OgxV1Beta1, value: &value, old: None, unknown: &unknown, facts: &facts };
    let findings = verdict(&request).findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    let (refused, said): (Vec<Finding>, Vec<Finding>) =
        findings.partition(|finding| finding.api_server_message.is_some());
    if !refused.is_empty() {
        return Err(MigrateError::Refused(refused));
    }
    let mut told = draft.told;
    told.extend(said.into_iter().map(|finding| Told {
        class: Class::Unknown,
        place: finding.path.to_string(),
        message: finding.message,
    }));
    told.sort_by_key(|one| one.class);
    let mut labelled: Vec<_> = super::reference_places(&value)
        .into_iter()
        .filter_map(|(kind, at)| Some((kind, at.key("name").find(&value)?.as_str()?.to_owned())))
        .collect();
    labelled.sort();
    labelled.dedup();
    Ok(Migration { value, moves: draft.moves, told, labelled, config: draft.config })
}

/// The places whose value a template fills in. As deep as a resource, which the API server bounds.
fn to_fill(value: &Value, at: &Path, found: &mut BTreeSet<Path>) {
    match value {
        Value::String(text) if placeholder(text).is_some() => _ = found.insert(at.clone()),
        Value::Object(fields) => {
            for (name, value) in fields {
                to_fill(value, &at.key(name.as_str()), found);
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                to_fill(value, &at.index(number), found);
            }
        }
        _ => {}
    }
}

/// Whether a template fills in a value.
fn is_to_fill(value: &Value) -> bool {
    value.as_str().is_some_and(|text| placeholder(text).is_some())
}

/// Labels and annotations that are about the old kind, or the old operator.
fn is_of_old_kind(name: &str) -> bool {
    name.starts_with("llamastack.io/") || name == "kubectl.kubernetes.io/last-applied-configuration"
}

fn metadata(draft: &mut Draft<'_>) -> Value {
    let mut metadata = draft.old["metadata"].as_object().cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        if let Some(entries) = metadata.get_mut(field).and_then(Value::as_object_mut) {
            entries.retain(|name, _| !is_of_old_kind(name));
            if entries.is_empty() {
                metadata.shift_remove(field);
            }
        }
    }
    let own =
        ["creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink", "ownerReferences"];
    metadata.retain(|name, _| !own.contains(&name.as_str()));
    let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !draft.options.same_name && !name.is_empty() {
        adopt(&mut metadata, &name, draft);
    }
    Value::Object(metadata)
}

/// Another name, and the annotations by which volume and Service of the old resource are taken over.
fn adopt(metadata: &mut Map<String, Value>, name: &str, draft: &mut Draft<'_>) {
    metadata.insert("name".to_owned(), format!("{name}-ogx").into());
    let mut adopted = vec![(adoption::NETWORKING, "Service")];
    if !draft.spec["workload"]["storage"].is_null() {
        adopted.insert(0, (adoption::STORAGE, "volume"));
    }
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    for (annotation, _) in &adopted {
        annotations[*annotation] = name.into();
    }
    let what: Vec<&str> = adopted.iter().map(|(_, what)| *what).collect();
    draft.tell(
        Class::Change,
        "metadata.name",
        format!(
            "\"{name}\" becomes \"{name}-ogx\", which adopts the {} of the old one: only after both carry the new operator's \
             label, see --plan",
            what.join(" and the ")
        ),
    );
}
