//! Configs with one change each.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// A change of the value at a pointer; `false` where it does not apply.
type Change = fn(&mut Value, &str) -> bool;

/// Every kind of change, by name.
const CHANGES: [(&str, Change); 13] = [
    ("rename", |config, pointer| {
        let Some((parent, name)) = holder(config, pointer) else { return false };
        parent.remove(&name).is_some_and(|value| parent.insert(format!("{name}x"), value).is_none())
    }),
    ("remove", |config, pointer| match holder(config, pointer) {
        Some((parent, name)) => parent.remove(&name).is_some(),
        None => item(config, pointer).is_some_and(|(list, at)| {
            list.remove(at);
            true
        }),
    }),
    ("double", |config, pointer| {
        item(config, pointer).is_some_and(|(list, at)| {
            list.insert(at, list[at].clone());
            true
        })
    }),
    ("move", |config, pointer| {
        let Some(provider) = config.pointer(pointer).filter(|value| value.get("provider_type").is_some()).cloned()
        else {
            return false;
        };
        let Some((list, at)) = item(config, pointer) else { return false };
        list.remove(at);
        let api = pointer.split('/').nth(2).unwrap_or_default().to_owned();
        let others = config["providers"].as_object_mut().into_iter().flatten();
        let mut next = others.skip_while(|(name, _)| **name != api).skip(1).filter_map(|(_, list)| list.as_array_mut());
        next.next().is_some_and(|list| {
            list.push(provider);
            true
        })
    }),
    ("null", |config, pointer| set(config, pointer, Value::Null)),
    ("number", |config, pointer| set(config, pointer, json!(12))),
    ("truth", |config, pointer| set(config, pointer, json!(true))),
    ("text", |config, pointer| set(config, pointer, json!("some text"))),
    ("list", |config, pointer| set(config, pointer, json!(["some", "texts"]))),
    ("mapping", |config, pointer| set(config, pointer, json!({"some": "mapping"}))),
    ("variable", |config, pointer| set(config, pointer, json!("${env.SOME_VARIABLE:=12}"))),
    ("open variable", |config, pointer| broken(config, pointer, |text| text.trim_end_matches('}').to_owned())),
    ("shell variable", |config, pointer| broken(config, pointer, |text| text.replace(":=", ":-"))),
];

/// Every change at every place of a config, named by kind and place; of them `most`, spread over all.
pub(super) fn of(config: &Value, most: usize) -> Vec<(&'static str, String, Value)> {
    let mut all = Vec::new();
    for pointer in pointers(config) {
        for (name, change) in CHANGES {
            let mut changed = config.clone();
            if change(&mut changed, &pointer) && changed != *config {
                all.push((name, pointer.clone(), changed));
            }
        }
    }
    let step = all.len().div_ceil(most).max(1);
    // Changes of one place follow each other: a step that shares no factor with their number meets all kinds.
    let step = (step..).find(|step| step % CHANGES.len() != 0).unwrap_or(step);
    all.into_iter().step_by(step).collect()
}

fn set(config: &mut Value, pointer: &str, value: Value) -> bool {
    config.pointer_mut(pointer).is_some_and(|place| {
        *place = value;
        true
    })
}

fn broken(config: &mut Value, pointer: &str, change: fn(&str) -> String) -> bool {
    let Some(Value::String(text)) =
        config.pointer_mut(pointer).filter(|value| value.as_str().is_some_and(|text| text.contains("${env.")))
    else {
        return false;
    };
    *text = change(text);
    true
}

fn holder<'v>(config: &'v mut Value, pointer: &str) -> Option<(&'v mut Map<String, Value>, String)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    Some((config.pointer_mut(parent)?.as_object_mut()?, name))
}

fn item<'v>(config: &'v mut Value, pointer: &str) -> Option<(&'v mut Vec<Value>, usize)> {
    let (parent, at) = pointer.rsplit_once('/')?;
    Some((config.pointer_mut(parent)?.as_array_mut()?, at.parse().ok()?))
}

/// Every place below the root, as JSON pointers.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(entries) => {
                entries.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value)).collect()
            }
            Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
            _ => Vec::new(),
        };
        for (name, child) in children {
            let below = format!("{at}/{name}");
            found.push(below.clone());
            open.push((below, child));
        }
    }
    found.sort();
    found
}

/// Providers and resources that a variable switches on are switched on, with a value for the variable, and models have a
/// name: the package looks at no others.
pub(crate) fn switch_on(config: &mut Value) {
    let mut switches = BTreeSet::new();
    texts(config, &mut |_, text| {
        if let Some((name, id)) = variable(text).and_then(|inside| inside.split_once(":+")) {
            let (name, id) = (name.to_owned(), id.to_owned());
            switches.insert(name);
            *text = id;
        }
    });
    texts(config, &mut |key, text| {
        let Some(name) = variable(text).and_then(|inside| inside.strip_suffix(":=")) else { return };
        if key.ends_with("_id") {
            *text = "named".to_owned();
        } else if switches.contains(name) || ["api_base", "base_url", "url"].contains(&key) {
            *text = format!("${{env.{name}:=http://named:8000/v1}}");
        }
    });
}

/// The inside of a text that is one variable.
fn variable(text: &str) -> Option<&str> {
    text.strip_prefix("${env.")?.strip_suffix('}')
}

/// Gives every text below a value to a function, with the last key on the way.
fn texts(value: &mut Value, give: &mut dyn FnMut(&str, &mut String)) {
    fn below(key: &str, value: &mut Value, give: &mut dyn FnMut(&str, &mut String)) {
        match value {
            Value::Object(entries) => entries.iter_mut().for_each(|(key, value)| below(key, value, give)),
            Value::Array(items) => items.iter_mut().for_each(|item| below(key, item, give)),
            Value::String(text) => give(key, text),
            _ => {}
        }
    }
    below("", value, give);
}
