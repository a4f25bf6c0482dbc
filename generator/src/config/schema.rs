//! The sections of a config, compared with the classes that the server reads them into.
//!
//! `configs/schema/<version>.json` is what pydantic says of `StackConfig`. The walk takes values as pydantic does when it
//! is not strict: a text of digits is a number, `1` is true, a number is no text. A key that a class does not have is
//! dropped by the server in silence, which is a fault here.

use super::environment;
use super::fault::{Fault, Kind};
use super::memory::Entries;
use super::{places, versions};
use crate::catalog::Catalog;
use crate::check::finding::{Fix, FixEdit};
use crate::nearest::nearest;
use crate::path::{Path, Segment};
use include_dir::{Dir, include_dir};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::OnceLock;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../configs/schema");

/// How deep a config is followed. The deepest class of any version ends at 9.
const MAX_DEPTH: usize = 32;

/// The schema of a version's config.
#[derive(Debug)]
pub(super) struct ConfigSchema {
    root: Value,
    /// Number of its version among those that have a catalog.
    number: usize,
}

impl ConfigSchema {
    /// The schema of exactly this version; read when it is first asked for.
    pub(super) fn of(version: &str) -> Option<&'static Self> {
        static READ: OnceLock<Vec<(String, OnceLock<Option<ConfigSchema>>)>> = OnceLock::new();
        let all = READ.get_or_init(|| {
            let names = FILES.files().filter_map(|file| file.path().to_str()?.strip_suffix(".json"));
            names.map(|name| (name.to_owned(), OnceLock::new())).collect()
        });
        let (name, slot) = all.iter().find(|(name, _)| name == version)?;
        let read = || {
            let text = FILES.get_file(format!("{name}.json"))?.contents_utf8()?;
            let number = Catalog::versions().iter().position(|version| version == name)?;
            Some(ConfigSchema { root: serde_json::from_str(text).ok()?, number })
        };
        slot.get_or_init(read).as_ref()
    }

    /// The schema of the value at `path`, and whether the value may be null. `None` where nothing is known of it.
    pub(super) fn at(&self, path: &Path) -> Option<&Value> {
        path.segments().iter().try_fold(self.resolve(&self.root), |schema, segment| {
            let schema = self.resolve(self.alternatives(schema).find(|one| one["type"] != "null").unwrap_or(schema));
            match segment {
                Segment::Key(name) => schema
                    .get("properties")
                    .and_then(|properties| properties.get(name))
                    .or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_object()))
                    .map(|schema| self.resolve(schema)),
                Segment::Index(_) => schema.get("items").map(|schema| self.resolve(schema)),
            }
        })
    }

    /// Whether a mapping with this schema, or with one of its alternatives, has a key.
    pub(super) fn reads(&self, schema: &Value, name: &str) -> bool {
        let schema = self.resolve(schema);
        let has = schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
        let mut alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|of| schema.get(of)?.as_array()).flatten();
        has || alternatives.any(|one| self.reads(one, name))
    }

    /// Number of its version among [`Catalog::versions`].
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The schema of a whole config.
    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    /// The schema that another one refers to; any other itself.
    pub(super) fn resolve<'s>(&'s self, schema: &'s Value) -> &'s Value {
        schema.get("$ref").and_then(Value::as_str).and_then(|reference| self.named(reference)).unwrap_or(schema)
    }

    /// The schema that a reference such as `#/$defs/Scope` leads to.
    pub(super) fn named(&self, reference: &str) -> Option<&Value> {
        self.root.get("$defs")?.get(reference.strip_prefix("#/$defs/")?)
    }

    /// The values of an enumeration or constant.
    pub(super) fn choices(&self, schema: &Value) -> Option<Vec<Value>> {
        let several = || schema.get("enum").and_then(Value::as_array).cloned();
        several().or_else(|| Some(vec![schema.get("const")?.clone()]))
    }

    fn alternatives<'s>(&'s self, schema: &'s Value) -> impl Iterator<Item = &'s Value> {
        schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().map(|one| self.resolve(one))
    }

    /// Everything in `config` that does not fit, but for places in `unknown`. `entries`: what is known of its lists.
    pub(super) fn faults(&self, config: &Value, unknown: &BTreeSet<Path>, entries: &Entries) -> Vec<Fault> {
        let mut walk = Walk { schema: self, config, unknown, entries, path: Path::root(), faults: Vec::new() };
        walk.value(&self.root, config);
        walk.faults
    }
}

struct Walk<'a> {
    schema: &'a ConfigSchema,
    config: &'a Value,
    unknown: &'a BTreeSet<Path>,
    entries: &'a Entries,
    path: Path,
    faults: Vec<Fault>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: &'a Value, value: &Value) {
        if self.unknown.contains(&self.path) || self.path.segments().len() > MAX_DEPTH {
            return;
        }
        let schema = self.schema.resolve(schema);
        if let Some(text) = value.as_str().filter(|text| text.contains("${")) {
            self.substituted(schema, text);
        } else if schema.get("anyOf").is_some() {
            self.best(schema, value);
        } else if schema.get("oneOf").is_some() {
            self.tagged(schema, value);
        } else {
            self.plain(schema, value);
        }
    }

    /// The alternative of a union that fits best; mistakes are told of that one only.
    fn best(&mut self, schema: &'a Value, value: &Value) {
        let all: Vec<&Value> = self.schema.alternatives(schema).collect();
        if value.is_null() && all.iter().any(|one| one["type"] == "null") {
            return;
        }
        let mut least: Option<Vec<Fault>> = None;
        for one in all.into_iter().filter(|one| one["type"] != "null") {
            let before = std::mem::take(&mut self.faults);
            self.value(one, value);
            let found = std::mem::replace(&mut self.faults, before);
            let weight =
                |faults: &[Fault]| (faults.iter().filter(|fault| fault.path == self.path).count(), faults.len());
            if least.as_ref().is_none_or(|least| weight(&found) < weight(least)) {
                least = Some(found);
            }
        }
        self.faults.extend(least.into_iter().flatten());
    }

    /// A union whose member is named by a field of the value.
    fn tagged(&mut self, schema: &'a Value, value: &Value) {
        let Some(entries) = value.as_object() else { return self.mistyped("a mapping") };
        let name = schema["discriminator"]["propertyName"].as_str().unwrap_or("type");
        let place = self.path.key(name);
        let Some(mapping) = schema["discriminator"]["mapping"].as_object() else { return };
        let known = || mapping.keys().map(String::as_str).collect::<Vec<_>>();
        match entries.get(name) {
            _ if self.unknown.contains(&place) => {}
            None => {
                let message = format!("needs \"{name}\" here, one of {}", known().join(", "));
                self.faults.push(Fault::error(Kind::MissingKey, self.path.clone(), message));
            }
            Some(Value::String(tag)) if tag.contains("${") => {
                if let Some(variable) = environment::needed_by(tag).filter(|_| !self.may_go_without_type()) {
                    let message = format!(
                        "exits unless {variable} is set: without it \"{name}\" is empty, and none of {}",
                        known().join(", ")
                    );
                    self.faults.push(Fault::warning(Kind::WrongDefault, place.clone(), message));
                }
                let default = environment::default_of(tag).filter(|(_, default)| !default.is_null());
                let fits = |default: &Value| default.as_str().is_some_and(|tag| mapping.contains_key(tag));
                if let Some((variable, default)) = default.filter(|(_, default)| !fits(default)) {
                    let message = format!(
                        "does not accept the default of {variable}: once it is substituted it is {default}, and none of {}",
                        known().join(", ")
                    );
                    self.faults.push(Fault::warning(Kind::WrongDefault, place, message));
                }
            }
            Some(tag) => match tag.as_str().and_then(|tag| mapping.get(tag)) {
                Some(member) => {
                    let member = member.as_str().and_then(|name| name.strip_prefix("#/$defs/"));
                    let Some(member) = member.and_then(|name| self.schema.root["$defs"].get(name)) else { return };
                    self.plain(member, value);
                }
                None => {
                    let written = tag.as_str().unwrap_or_default();
                    let fix = nearest(written, known()).map(|near| replace(&place, near));
                    let message = format!("does not know \"{written}\" here, only {}", known().join(", "));
                    self.faults.push(Fault::error(Kind::WrongValue, place, message).with(fix));
                }
            },
        }
    }

    /// Whether the server leaves out the mapping here where its type comes to nothing.
    fn may_go_without_type(&self) -> bool {
        let version = Catalog::versions().get(self.schema.number);
        version.is_some_and(|version| versions::drops_auth_without_type(version))
            && self.path == Path::parse("server.auth.provider_config")
    }

    fn plain(&mut self, schema: &'a Value, value: &Value) {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.one_of(values, value);
        }
        if let Some(only) = schema.get("const") {
            return self.one_of(std::slice::from_ref(only), value);
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => match value.as_object() {
                Some(entries) => self.object(schema, entries),
                None => self.mistyped("a mapping"),
            },
            Some("array") => match value.as_array() {
                Some(items) => {
                    let Some(schema) = schema.get("items") else { return };
                    self.items(schema, items);
                }
                None => self.mistyped("a list"),
            },
            Some("string") if value.is_null() && self.is_id_of_resource() => {
                let message = "skips this entry, in silence: its id is empty";
                self.faults.push(Fault::warning(Kind::DanglingName, self.path.clone(), message));
            }
            Some("string") if !value.is_string() => self.mistyped("a text"),
            Some("integer") => self.number(schema, value, true),
            Some("number") => self.number(schema, value, false),
            Some("boolean") if !truth(value) => self.mistyped("true or false"),
            _ => {}
        }
    }

    fn items(&mut self, schema: &'a Value, items: &[Value]) {
        let known = match self.path.segments() {
            [Segment::Key(section), Segment::Key(name)] => self.entries.list(section, name),
            _ => None,
        };
        for (position, item) in items.iter().enumerate() {
            let Some(entry) = known.and_then(|known| known.get(position)?.as_ref()) else {
                self.below(Segment::Index(position), schema, item);
                continue;
            };
            let before = std::mem::take(&mut self.faults);
            let found = entry.of_schema(self.schema.number, position, || {
                self.below(Segment::Index(position), schema, item);
                std::mem::take(&mut self.faults)
            });
            self.faults = before;
            self.faults.extend(found);
        }
    }

    /// Whether this is where a registered resource has its id, such as `registered_resources.models[0].model_id`. Source:
    /// `replace_env_vars`, which leaves out entries whose id comes to nothing.
    fn is_id_of_resource(&self) -> bool {
        match self.path.segments() {
            [Segment::Key(section), Segment::Key(_), Segment::Index(_), Segment::Key(field)] => {
                section == "registered_resources" && field.ends_with("_id") && !field.starts_with("provider_")
            }
            _ => false,
        }
    }

    fn below(&mut self, segment: Segment, schema: &'a Value, value: &Value) {
        self.path.push(segment);
        self.value(schema, value);
        self.path.pop();
    }

    fn object(&mut self, schema: &'a Value, entries: &Map<String, Value>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in entries {
            match (properties.and_then(|properties| properties.get(name)), others) {
                (Some(known), _) => {
                    if known.get("deprecated").is_some_and(|deprecated| deprecated == true) {
                        self.deprecated(name);
                    }
                    self.below(Segment::Key(name.clone()), known, value);
                }
                (None, Some(others)) if others.is_object() => self.below(Segment::Key(name.clone()), others, value),
                (None, None) => self.unknown_key(properties, name),
                (None, Some(_)) => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
            let message = format!("needs \"{name}\"");
            self.faults.push(Fault::error(Kind::MissingKey, self.path.clone(), message));
        }
    }

    fn deprecated(&mut self, name: &str) {
        let path = self.path.key(name);
        let Some(new) = places::successor(&path) else { return };
        let fix = places::move_to(self.config, &path, &new);
        let message = format!("still reads \"{name}\", which is deprecated: {}", new.advice);
        self.faults.push(Fault {
            severity: crate::check::finding::Severity::Hint,
            ..Fault::warning(Kind::Deprecated, path, message).on_key().with(fix)
        });
    }

    fn unknown_key(&mut self, properties: Option<&Map<String, Value>>, name: &str) {
        let path = self.path.key(name);
        if self.unknown.contains(&path) {
            return;
        }
        let known = || properties.into_iter().flatten().map(|(name, _)| name.as_str());
        if let Some(new) = places::successor(&path).filter(|new| new.exists(self.schema)) {
            let fix = places::move_to(self.config, &path, &new);
            let message = format!("ignores \"{name}\" here: {}", new.advice);
            self.faults.push(Fault::warning(Kind::RenamedKey, path, message).on_key().with(fix));
            return;
        }
        let (message, fix) = match nearest(name, known()) {
            Some(near) => {
                let edits = vec![FixEdit::RenameKey { path: path.clone(), to: near.to_owned() }];
                let free = self.path.key(near).find(self.config).is_none();
                let fix = free.then(|| Fix { title: format!("Rename to \"{near}\""), edits, preferred: true });
                (format!("does not read \"{name}\", it ignores the key. Did you mean \"{near}\"?"), fix)
            }
            None => {
                let known: Vec<&str> = known().collect();
                (format!("does not read \"{name}\", it ignores the key. Known here: {}", known.join(", ")), None)
            }
        };
        self.faults.push(Fault::warning(Kind::UnknownKey, path, message).on_key().with(fix));
    }

    fn one_of(&mut self, values: &[Value], value: &Value) {
        if values.contains(value) {
            return;
        }
        let words: Vec<String> =
            values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
        let fix = value.as_str().and_then(|text| nearest(text, words.iter().map(String::as_str)));
        let fix = fix.map(|near| replace(&self.path, near));
        let message = match value.as_str() {
            Some(text) => format!("does not accept \"{text}\": it is one of {}", words.join(", ")),
            None => format!("wants one of {}", words.join(", ")),
        };
        self.faults.push(Fault::error(Kind::WrongValue, self.path.clone(), message).with(fix));
    }

    fn number(&mut self, schema: &Value, value: &Value, whole: bool) {
        let read = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
            _ => None,
        };
        let Some(read) = read.filter(|read| !whole || read.fract() == 0.0) else {
            return self.mistyped(if whole { "a whole number" } else { "a number" });
        };
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        if bound("minimum").is_some_and(|least| read < least) || bound("maximum").is_some_and(|most| read > most) {
            let range = [
                bound("minimum").map(|least| format!("at least {least}")),
                bound("maximum").map(|most| format!("at most {most}")),
            ];
            let range: Vec<String> = range.into_iter().flatten().collect();
            let message = format!("takes {} here", range.join(" and "));
            self.faults.push(Fault::error(Kind::WrongValue, self.path.clone(), message));
        }
    }

    fn mistyped(&mut self, wanted: &str) {
        self.faults.push(Fault::error(Kind::WrongValue, self.path.clone(), format!("wants {wanted} here")));
    }

    /// A text with variables. What it becomes is known of a lone default only, and of a value that cannot be a text.
    fn substituted(&mut self, schema: &'a Value, text: &str) {
        let Some((name, default)) = environment::default_of(text) else { return };
        // Empty means absent, which is what such defaults are for.
        if default.is_null() {
            return;
        }
        let before = std::mem::take(&mut self.faults);
        self.value(schema, &default);
        let wrong = !std::mem::replace(&mut self.faults, before).is_empty();
        if wrong {
            let message = format!("does not accept the default of {name}: once it is substituted it is {default}");
            self.faults.push(Fault::warning(Kind::WrongDefault, self.path.clone(), message));
        }
    }
}

pub(super) fn replace(path: &Path, text: &str) -> Fix {
    let edits = vec![FixEdit::Replace { path: path.clone(), value: text.into() }];
    Fix { title: format!("Change to \"{text}\""), edits, preferred: true }
}

/// What pydantic takes for a truth value.
fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(number) => matches!(number.as_f64(), Some(read) if read == 0.0 || read == 1.0),
        Value::String(text) => {
            let words = ["true", "false", "yes", "no", "on", "off", "t", "f", "y", "n", "1", "0"];
            words.contains(&text.to_ascii_lowercase().as_str())
        }
        _ => false,
    }
}
