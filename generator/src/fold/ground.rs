//! What a folding starts from, and whether one is accepted.

use super::config;
use super::difference::{Class, Difference, Part};
use super::environment::{Bound, Env, Source, Variables, environment};
use super::meaning::{Meaning, compare, meaning};
use super::report::Why;
use super::spec::{self, Attempt};
use crate::api::{ApiVersion, KIND, v1alpha2::Distribution};
use crate::catalog::Catalog;
use crate::check::finding::Severity;
use crate::check::{Facts, Request, verdict};
use crate::distribution::{Distributions, version_of_image};
use crate::generate::{Base, EnvSource, Generated};
use crate::path::Path;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The base config of a distribution, read.
pub(super) struct Ground {
    /// `spec.distribution.name`, in the spelling of `configs/distributions.json`.
    pub(super) distribution: String,
    base: Value,
    /// What the distribution's llama-stack knows.
    catalog: Option<&'static Catalog>,
}

/// A folding that was accepted.
pub(super) struct Taken {
    /// The resource with the fields in it, its environment as it was.
    pub(super) value: Value,
    /// Whether a hand-written config was folded.
    pub(super) is_config: bool,
    /// Variables that nothing reads any more, each with the place that says its value, if one does.
    pub(super) unread: BTreeMap<String, Option<Path>>,
    /// What is not as it was in the config.
    pub(super) differences: Vec<Difference>,
    /// References of an older form, each with what it became.
    pub(super) renewed: Vec<(String, String)>,
    /// Places of the config that the server passed over, and that are gone.
    pub(super) passed_over: Vec<String>,
}

/// What a caller knows, and places whose value is to be filled in.
type Known<'a> = (&'a Facts, &'a BTreeSet<Path>);

/// A refused folding, with the place that was refused.
struct Refusal {
    path: Path,
    why: Why,
}

impl Ground {
    /// `None` where no base config is known: nothing can be generated then.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let spec = value.get("spec")?;
        if spec.get("providers").is_some() {
            return None;
        }
        let distribution: Distribution = serde_json::from_value(spec.get("distribution")?.clone()).ok()?;
        let base = Base::embedded(&distribution, None).ok()?;
        let known = Distributions::embedded().get(distribution.name.as_deref()?).ok()?;
        let version = version_of_image(&known.image).unwrap_or_else(|| known.llama_stack_version.clone());
        Some(Self {
            distribution: known.name.clone(),
            base: config::read(&base.text)?,
            catalog: Catalog::for_version(&version),
        })
    }

    /// The variables that the base config reads and that something else needs where they are.
    pub(super) fn needed<'v>(&self, variables: &'v Variables) -> Vec<(&'v String, Bound)> {
        let read = config::variables(&self.base);
        let bound = variables.bound.iter().filter(|(name, why)| {
            // what a library reads stays without a word: nobody expects it to move
            **why != Bound::Library && read.contains(*name) && variables.all.contains_key(*name)
        });
        bound.map(|(name, why)| (name, why.clone())).collect()
    }

    /// Folds variables that the base config reads. `None`: there is nothing to fold.
    ///
    /// # Errors
    /// Nothing of what there is can be folded.
    pub(super) fn fold_env(
        &self,
        value: &Value,
        variables: &Variables,
        known: Known<'_>,
    ) -> Result<Option<Taken>, Why> {
        let attempt = spec::from_env(&self.base, variables, self.catalog);
        if attempt.is_empty() {
            return Ok(None);
        }
        let before = meaning(&self.base, &variables.all, self.catalog);
        let accept = |attempt: &Attempt| self.accept(value, attempt, (&before, &self.base), variables, known);
        let first = match accept(&attempt) {
            Ok(taken) => return Ok(Some(taken)),
            Err(refusal) => refusal.why,
        };
        // one provider that cannot be said keeps no other from being said
        let mut parts = Vec::new();
        let mut best = None;
        for part in attempt.parts() {
            parts.push(part);
            match accept(&attempt.only(&parts)) {
                Ok(taken) => best = Some(taken),
                Err(_) => _ = parts.pop(),
            }
        }
        best.map(Some).ok_or(first)
    }

    /// Folds a hand-written config.
    ///
    /// # Errors
    /// The resource cannot say all of it.
    pub(super) fn fold_config(
        &self,
        value: &Value,
        theirs: &Value,
        variables: &Variables,
        known: Known<'_>,
    ) -> Result<Taken, Why> {
        let (meant, renewed) = config::renewed(theirs);
        let mut before = meaning(theirs, &variables.all, self.catalog);
        if !renewed.is_empty() {
            before.read_as(&meaning(&meant, &variables.all, self.catalog));
        }
        let mut attempt = spec::from_config(&meant, &self.base, variables, self.catalog);
        let mut result = self.accept(value, &attempt, (&before, &meant), variables, known);
        // An API that a provider of the base needs cannot be disabled; it stays, and is reported as a difference.
        while let Err(refusal) = &result {
            if !attempt.enable(&refusal.path) {
                break;
            }
            result = self.accept(value, &attempt, (&before, &meant), variables, known);
        }
        let taken = result.map_err(|refusal| refusal.why)?;
        let passed_over = before.unread.into_iter().collect();
        Ok(Taken { is_config: true, renewed, passed_over, ..taken })
    }

    /// The resource with the attempt's fields, if a config can be generated from it in which nothing that was there is
    /// gone or another. `read` is the config as it is read from now on.
    fn accept(
        &self,
        value: &Value,
        attempt: &Attempt,
        (before, read): (&Meaning, &Value),
        variables: &Variables,
        known: Known<'_>,
    ) -> Result<Taken, Refusal> {
        let (value, generated) = judged(value, attempt, known)?;
        let text = generated.config.text();
        let is_free = |name: &str| {
            variables.all.contains_key(name) && !variables.bound.contains_key(name) && !still_read(name, text)
        };
        let taken = attempt.taken().map(|(name, place)| (name.to_owned(), Some(place)));
        let others = config::variables(read).into_iter().map(|name| (name, None));
        let mut unread: BTreeMap<String, Option<Path>> =
            if attempt.replaces_override() { others.collect() } else { BTreeMap::new() };
        unread.extend(taken);
        unread.retain(|name, _| is_free(name));
        let after = config::read(text).unwrap_or_default();
        let after = meaning(&after, &environment_after(&value, &unread, &generated), self.catalog);
        let mut differences = compare(before, &after);
        // left out of what was judged above, and so of the config
        if let Some(workers) = Path::parse("spec.workload.workers").find(&value)
            && before.of("server").is_none_or(|server| !server.contains_key(".workers"))
        {
            differences.push(Difference {
                class: Class::Added,
                part: Part::Config,
                place: "server.workers".to_owned(),
                before: None,
                after: Some(workers.to_string()),
                cause: None,
            });
        }
        let in_the_way: Vec<Difference> = differences.iter().filter(|one| one.stands_in_the_way()).cloned().collect();
        if !in_the_way.is_empty() {
            return Err(Refusal { path: Path::root(), why: Why::Differs(in_the_way) });
        }
        Ok(Taken { value, is_config: false, unread, differences, renewed: Vec::new(), passed_over: Vec::new() })
    }
}

/// The resource with the attempt's fields, and the config generated from it; or why there is none.
fn judged(value: &Value, attempt: &Attempt, (facts, unknown): Known<'_>) -> Result<(Value, Generated), Refusal> {
    if attempt.is_empty() {
        return Err(Refusal { path: Path::root(), why: Why::NothingToSay });
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
    let version = ApiVersion::V1Alpha2;
    let outcome = verdict(&Request { version, value: &judged, old: None, unknown, facts });
    let error = outcome.findings.iter().find(|finding| finding.severity == Severity::Error);
    let refused = |path: Path, message: &str| Refusal {
        path: path.clone(),
        why: Why::Refused { path, message: message.to_owned() },
    };
    match (outcome.generated, error) {
        (Some(generated), None) => Ok((value, generated)),
        (_, Some(finding)) => Err(refused(finding.path.clone(), &finding.message)),
        _ => Err(refused(Path::root(), "no config can be generated")),
    }
}

/// The environment after a folding: without what nothing reads, and with the Secrets that the operator hands in.
fn environment_after(value: &Value, unread: &BTreeMap<String, Option<Path>>, generated: &Generated) -> Env {
    let list = Path::parse("spec.workload.overrides.env").find(value).and_then(Value::as_array);
    let gone = |item: &Value| item.get("name").and_then(Value::as_str).is_some_and(|name| unread.contains_key(name));
    let kept: Value = list.into_iter().flatten().filter(|item| !gone(item)).cloned().collect();
    let mut env = environment(&kept);
    for variable in &generated.env {
        let source = match &variable.source {
            EnvSource::Secret(secret) => Source::Secret { name: secret.name.clone(), key: secret.key.clone() },
            EnvSource::Derived(secret) => Source::Elsewhere(format!("{}/{}", secret.name, secret.key)),
        };
        // the user's own variable of this name wins
        env.entry(variable.name.clone()).or_insert(source);
    }
    env
}

/// Whether a config still reads a variable, under exactly this name.
fn still_read(name: &str, text: &str) -> bool {
    text.match_indices(&format!("${{env.{name}")).any(|(at, found)| {
        text[at + found.len()..].chars().next().is_none_or(|next| !next.is_ascii_alphanumeric() && next != '_')
    })
}
