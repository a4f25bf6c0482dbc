//! Patches for v1alpha1 resources, as patches that do the same to the resources in v1alpha2.
//!
//! Only fields that have one place in the other version are moved. Whether what comes out does the same is for the
//! caller to find out, by applying both: see [`differences`].

use super::difference::{Class, Difference, Part};
use super::environment::{Variables, environment};
use super::{spec, whole};
use crate::api::ApiVersion;
use crate::convert::{V1ALPHA1_TO_V1ALPHA2, set};
use crate::kustomize::{Operations, Pointer, is_directive};
use crate::path::{Path, Segment};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// Its value is a boolean in v1alpha1, and the presence of an object in v1alpha2.
const EXPOSE: (&str, &str) = ("spec.network.exposeRoute", "spec.networking.expose");

/// The object whose presence alone says something.
const NETWORK: &str = "spec.network";

/// Why a patch has no counterpart. Paths are those of the old resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmoved {
    /// v1alpha2 has no field for this one.
    NoField(Path),
    /// The patch treats an object as a whole whose fields v1alpha2 has at several places.
    TakenApart(Path),
    /// The resources that the patch meets are not alike there, so that no one operation does the same to all.
    NotAlike(String),
    /// kustomize does not apply this operation, counted from 0.
    Operation(usize),
}

impl fmt::Display for Unmoved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoField(path) => write!(out, "v1alpha2 has no field for {path}"),
            Self::TakenApart(path) => {
                write!(out, "it treats {path} as a whole, and v1alpha2 has its fields at several places")
            }
            Self::NotAlike(pointer) => {
                write!(out, "the resources that it meets are not alike at {pointer}, and would need one patch each")
            }
            Self::Operation(number) => write!(out, "kustomize does not apply its operation {}", number + 1),
        }
    }
}

/// The strategic merge patch for v1alpha2 that does what `patch` does for v1alpha1, and the places that moved.
///
/// # Errors
/// The first place that has no counterpart.
pub fn merge_patch(patch: &Value) -> Result<(Value, Vec<(Path, Path)>), Unmoved> {
    let mut result = Map::new();
    let mut fields = Vec::new();
    for (name, value) in patch.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" => _ = result.insert(name.clone(), json!(ApiVersion::V1Alpha2.api_version())),
            "spec" => {
                result.insert(name.clone(), json!({}));
                take_apart(value, &Path::root().key("spec"), &mut fields)?;
            }
            _ => _ = result.insert(name.clone(), value.clone()),
        }
    }
    let mut result = Value::Object(result);
    let mut moves = Vec::new();
    for Field { old, new, value } in fields {
        set(&mut result, &new, value);
        moves.push((old, new));
    }
    spec::order(&mut result);
    Ok((result, moves))
}

/// A value of a patch: where it was, and where and what it is.
struct Field {
    old: Path,
    new: Path,
    value: Value,
}

/// The fields of v1alpha2 that hold what a patch says at `at`, which has a place in the table or lies above some.
fn take_apart(value: &Value, at: &Path, out: &mut Vec<Field>) -> Result<(), Unmoved> {
    if let Some(new) = new_place(at) {
        let value = if is_expose(at) { exposed(value) } else { value.clone() };
        out.push(Field { old: at.clone(), new, value });
        return Ok(());
    }
    if below(at).next().is_none() {
        return Err(Unmoved::NoField(at.clone()));
    }
    match value {
        Value::Object(fields) if fields.is_empty() && *at == Path::parse(NETWORK) => {
            Err(Unmoved::TakenApart(at.clone()))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            let inside = at.key(name.as_str());
            match is_directive(name) {
                true => Err(Unmoved::TakenApart(inside)),
                false => take_apart(value, &inside, out),
            }
        }),
        Value::Null if *at != Path::parse(NETWORK) => {
            out.extend(below(at).map(|(old, new)| Field { old, new, value: Value::Null }));
            Ok(())
        }
        _ => Err(Unmoved::TakenApart(at.clone())),
    }
}

/// The fields that have a place in both versions.
fn table() -> impl Iterator<Item = (Path, Path)> {
    V1ALPHA1_TO_V1ALPHA2.into_iter().chain([EXPOSE]).map(|(old, new)| (Path::parse(old), Path::parse(new)))
}

/// Those inside the object at `at`.
fn below(at: &Path) -> impl Iterator<Item = (Path, Path)> {
    table().filter(move |(old, _)| old != at && old.starts_with(at))
}

/// Where v1alpha2 has the field at `old`, or what is inside of it.
fn new_place(old: &Path) -> Option<Path> {
    let (from, to) = table().find(|(from, _)| old.starts_with(from))?;
    let rest: Path = old.segments()[from.segments().len()..].iter().cloned().collect();
    Some(to.join(&rest))
}

fn is_expose(old: &Path) -> bool {
    *old == Path::parse(EXPOSE.0)
}

fn exposed(value: &Value) -> Value {
    match value {
        Value::Bool(true) => json!({}),
        Value::Null => Value::Null,
        other => json!({"enabled": other}),
    }
}

/// A resource that a patch meets.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// As it is in front of the patch, in v1alpha1.
    pub old: Value,
    /// What `old` becomes in v1alpha2, in front of the patch as well.
    pub new: Value,
}

/// The JSON 6902 operations for v1alpha2 that do what operation number `number` of a list does for v1alpha1. `met` has
/// every resource as it is in front of the operation, and is brought behind it.
///
/// # Errors
/// There are none.
pub fn operation(number: usize, written: &Value, met: &mut [Met]) -> Result<Vec<Value>, Unmoved> {
    let text = |field: &str| written.get(field).and_then(Value::as_str).unwrap_or_default();
    let broken = Unmoved::Operation(number);
    let pointer = Pointer::parse(text("path")).ok_or_else(|| broken.clone())?;
    let value = written.get("value").unwrap_or(&Value::Null);
    let mut moving = Moving { done: Vec::new(), met, broken: broken.clone() };
    match (text("op"), place(&pointer)?) {
        ("add" | "replace", Place::At { old, pointer }) => {
            let value = if is_expose(&old) { exposed(value) } else { value.clone() };
            moving.put(text("op"), &pointer, value)?;
        }
        ("add" | "replace", Place::Above(at)) => {
            let mut fields = Vec::new();
            take_apart(value, &at, &mut fields)?;
            for (old, new) in below(&at).filter(|(old, _)| !fields.iter().any(|field| field.old.starts_with(old))) {
                moving.remove_where_it_was(&old, &new)?;
            }
            fields.into_iter().try_for_each(|Field { new, value, .. }| moving.put("add", &Pointer::of(&new), value))?;
        }
        ("remove", Place::At { pointer, .. }) => moving.with_path(written, &pointer)?,
        ("remove", Place::Above(at)) => {
            below(&at).try_for_each(|(old, new)| moving.remove_where_it_was(&old, &new))?;
        }
        ("test", Place::At { old, pointer }) if !is_expose(&old) => moving.with_path(written, &pointer)?,
        ("move" | "copy", Place::At { old, pointer }) if !is_expose(&old) => {
            let from = Pointer::parse(text("from")).ok_or_else(|| broken.clone())?;
            let Place::At { pointer: from, .. } = place(&from)? else { return Err(broken) };
            let mut moved = written.clone();
            moved["from"] = json!(from.to_string());
            moving.with_path(&moved, &pointer)?;
        }
        (_, Place::Above(at)) => return Err(Unmoved::TakenApart(at)),
        _ => return Err(broken),
    }
    let done = moving.done;
    let whole = Operations::read(&Value::Array(vec![written.clone()])).ok_or_else(|| broken.clone())?;
    for one in met {
        one.old = whole.apply(&one.old).map_err(|_| broken.clone())?;
    }
    Ok(done)
}

/// What a pointer leads to.
enum Place {
    /// A field that both versions have, or what is inside of one.
    At { old: Path, pointer: Pointer },
    /// An object with such fields.
    Above(Path),
}

fn place(pointer: &Pointer) -> Result<Place, Unmoved> {
    let old = pointer.path();
    if old.segments().first() == Some(&Segment::Key("metadata".to_owned())) {
        return Ok(Place::At { old, pointer: pointer.clone() });
    }
    if let Some((from, to)) = table().find(|(from, _)| old.starts_with(from)) {
        return match is_expose(&from) && old != from {
            true => Err(Unmoved::NoField(old)),
            false => Ok(Place::At { pointer: pointer.behind(from.segments().len(), &to), old }),
        };
    }
    // the header, or all of the object
    let is_above = !old.segments().is_empty() && below(&old).next().is_some();
    if is_above { Ok(Place::Above(old)) } else { Err(Unmoved::NoField(old)) }
}

/// Operations being put together, each tried on what is met.
struct Moving<'m> {
    done: Vec<Value>,
    met: &'m mut [Met],
    broken: Unmoved,
}

impl Moving<'_> {
    /// Sets a value. Where an object above it is not there yet in v1alpha2, it is made with it.
    fn put(&mut self, op: &str, pointer: &Pointer, value: Value) -> Result<(), Unmoved> {
        let not_alike = || Unmoved::NotAlike(pointer.to_string());
        let lacking: BTreeSet<Option<usize>> = self.met.iter().map(|one| pointer.lacking(&one.new)).collect();
        let mut lacking = lacking.into_iter();
        let (Some(first), None) = (lacking.next(), lacking.next()) else { return Err(not_alike()) };
        let Some(length) = first else {
            return self.push(json!({"op": op, "path": pointer.to_string(), "value": value}));
        };
        let (above, inside) = pointer.split_at(length);
        let is_key = |step: &String| step != "-" && step.parse::<usize>().is_err();
        if !inside.iter().all(is_key) {
            return Err(not_alike());
        }
        let value = inside.iter().rev().fold(value, |value, step| json!({step.as_str(): value}));
        self.push(json!({"op": "add", "path": above.to_string(), "value": value}))
    }

    /// Removes a field where the old resources had it.
    fn remove_where_it_was(&mut self, old: &Path, new: &Path) -> Result<(), Unmoved> {
        let had: BTreeSet<bool> = self.met.iter().map(|one| old.find(&one.old).is_some()).collect();
        let has: BTreeSet<bool> = self.met.iter().map(|one| new.find(&one.new).is_some()).collect();
        match (had.contains(&true), had.contains(&false), has.contains(&true), has.contains(&false)) {
            (false, ..) | (_, _, false, _) => Ok(()),
            (true, false, true, false) => self.push(json!({"op": "remove", "path": Pointer::of(new).to_string()})),
            _ => Err(Unmoved::NotAlike(Pointer::of(new).to_string())),
        }
    }

    /// The operation with another path.
    fn with_path(&mut self, written: &Value, pointer: &Pointer) -> Result<(), Unmoved> {
        let mut moved = written.clone();
        moved["path"] = json!(pointer.to_string());
        self.push(moved)
    }

    fn push(&mut self, one: Value) -> Result<(), Unmoved> {
        let path = one.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        let operations = Operations::read(&Value::Array(vec![one.clone()])).ok_or_else(|| self.broken.clone())?;
        for met in self.met.iter_mut() {
            met.new = operations.apply(&met.new).map_err(|_| Unmoved::NotAlike(path.clone()))?;
        }
        self.done.push(one);
        Ok(())
    }
}

/// Where a resource in v1alpha2 does not say what it said in v1alpha1, nothing folded: its environment, and every field,
/// defaults filled in on both sides.
#[must_use]
pub fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let variables = Variables::of(before);
    let list = Path::parse("spec.workload.overrides.env").find(after).cloned().unwrap_or_else(|| json!([]));
    let environment = environment(&list);
    let mut found = whole::environment(&variables.all, &environment, &BTreeSet::new());
    let new = environment.keys().filter(|name| !variables.all.contains_key(*name));
    found.extend(new.map(|name| Difference {
        class: Class::Added,
        part: Part::Environment,
        place: format!("environment variable {name}"),
        before: None,
        after: Some("its value".to_owned()),
        cause: None,
    }));
    found.extend(whole::fields(before, after, false));
    found
}

#[cfg(test)]
mod tests;
