//! The reading of a third parser: libyaml, which serde_yaml is built on and the API server's parser descends from.

use std::fmt;

use serde::de::{Deserialize, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

/// Events of libyaml, or its complaint; `None` if the text has aliases or tags, which serde_yaml resolves.
pub fn libyaml_events(text: &str) -> Option<Result<Vec<String>, String>> {
    if text.contains(['*', '!']) {
        return None;
    }
    let mut out = Vec::new();
    // The encoding is known here, so that the mark of it is not looked for.
    for document in serde_yaml::Deserializer::from_str(text.trim_start_matches('\u{feff}')) {
        match Events::deserialize(document) {
            Ok(events) => {
                out.push("+DOC".to_owned());
                out.extend(events.0);
                out.push("-DOC".to_owned());
            }
            Err(error) => return Some(Err(error.to_string())),
        }
    }
    Some(Ok(out))
}

/// Whether events are the same but for the types that libyaml's reader gives to plain scalars.
pub fn same(ours: &[String], theirs: &[String]) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a == b || typed(a) == typed(b))
}

/// An event with a number, boolean or null in one spelling.
fn typed(event: &str) -> String {
    let Some(value) = event.strip_prefix('=') else { return event.to_owned() };
    match serde_yaml::from_str::<serde_yaml::Value>(value) {
        Ok(serde_yaml::Value::Number(number)) => format!("={number}"),
        Ok(serde_yaml::Value::Bool(bool)) => format!("={bool}"),
        Ok(serde_yaml::Value::Null) if !value.contains(['\n', '\r', '#', '-', '.']) => "=".to_owned(),
        _ => event.to_owned(),
    }
}

struct Events(Vec<String>);

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Events, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

fn one<E>(value: &dyn fmt::Display) -> Result<Events, E> {
    Ok(Events(vec![format!("={value}")]))
}

impl<'de> Visitor<'de> for Reader {
    type Value = Events;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML node")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Events, E> {
        one(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Events, E> {
        one(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Events, E> {
        one(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Events, E> {
        one(&serde_yaml::Number::from(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Events, E> {
        one(&value)
    }

    fn visit_unit<E: Error>(self) -> Result<Events, E> {
        one(&"")
    }

    fn visit_none<E: Error>(self) -> Result<Events, E> {
        one(&"")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Events, A::Error> {
        let mut out = vec!["+SEQ".to_owned()];
        while let Some(item) = access.next_element::<Events>()? {
            out.extend(item.0);
        }
        out.push("-SEQ".to_owned());
        Ok(Events(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Events, A::Error> {
        let mut out = vec!["+MAP".to_owned()];
        while let Some((key, value)) = access.next_entry::<Events, Events>()? {
            out.extend(key.0);
            out.extend(value.0);
        }
        out.push("-MAP".to_owned());
        Ok(Events(out))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Events, A::Error> {
        let (Events(_), variant) = access.variant::<Events>()?;
        variant.newtype_variant::<Events>()
    }
}
