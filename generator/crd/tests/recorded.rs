//! The walk over schema and rules against what a real API server (Kubernetes 1.36) said about small CRDs, each
//! with one feature of schema or CEL: 192 with 354 answers (`cel-cases.json`), and 153 more with 911 answers
//! (`schema-cases.json`), written when the walk already agreed with the first and run against it unseen: 898 verdicts
//! were the server's and 4 laxer then; what differed has been mended since. A verdict laxer than the server's fails the test, and so does less agreement
//! than has been reached.

use crd_validator::{Check, CompiledSchema, Fault, FaultKind, Path, Reason, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Tests whose verdict is not the server's, each with the reason. Anything else that differs fails.
const KNOWN_DIFFERENCES: &[(&str, &str)] =
    &[("fmt2", "not checked: the exponents of `%e` are printed in a way of CEL's own")];

/// The least number of answers, of those that the server gave, that must agree.
const LEAST_SAME_VERDICT: usize = 354 + 907;
/// Texts that differ: two name an internal error of the server, one a version that it rewrites before reading it.
const LEAST_SAME_TEXT: usize = 354 + 904;

fn cases() -> Vec<Value> {
    let read = |text: &str| -> Vec<Value> { serde_json::from_str(text).expect("the cases are JSON") };
    [read(include_str!("data/cel-cases.json")), read(include_str!("data/schema-cases.json"))].concat()
}

/// The object with the type and name that it had on the server.
fn complete(object: &Value) -> Value {
    let mut whole = json!({"apiVersion": "c.example.com/v1", "kind": "Case", "metadata": {"name": "case"}});
    let fields = object.as_object().expect("an object");
    for (key, value) in fields {
        whole[key] = value.clone();
    }
    whole
}

fn spoken(fault: &Fault) -> String {
    format!("{}: {}", fault.server_field, fault.server_message)
}

/// Whether a rule was left open that the server decided. Without an old object it passes over rules about changes.
fn is_open(verdict: &Verdict) -> bool {
    verdict.not_checked.iter().any(|open| open.reason != Reason::NoOldObject)
}

#[test]
fn verdicts_are_those_of_the_api_server() {
    let (mut answers, mut same_verdict, mut same_text, mut open) = (0, 0, 0, 0);
    let mut report = String::new();
    let mut laxer = Vec::new();
    let mut unexplained = Vec::new();
    for case in cases() {
        let name = case["name"].as_str().expect("a name");
        let schema = CompiledSchema::new(&case["schema"]);
        for test in case["tests"].as_array().expect("tests") {
            let Some(status) = test["status"].as_u64() else { continue };
            answers += 1;
            let mut expected: Vec<String> = test["errors"]
                .as_array()
                .expect("errors")
                .iter()
                .filter_map(Value::as_str)
                .filter(|error| !error.contains("some validation rules were not checked"))
                .map(str::to_owned)
                .collect();
            // Where the object to be replaced was itself refused, the answer is about that one.
            let old_refused = expected.first().is_some_and(|error| error.starts_with("None: ["));
            let old = test.get("old").map(complete);
            let object = complete(&test["object"]);
            let verdict = match &old {
                Some(old) if old_refused => schema.validate(old, None),
                old => schema.validate(&object, old.as_ref()),
            };
            let accepted = status < 300;
            let ours = verdict.faults.is_empty();
            if ours && !accepted && !is_open(&verdict) {
                laxer.push(format!("{name}: {object}: {expected:?}"));
                continue;
            }
            if is_open(&verdict) {
                open += 1;
            }
            if ours != accepted || is_open(&verdict) {
                let _ = writeln!(
                    report,
                    "{name}: {object}\n  server {expected:?}\n  ours {:?} {:?}",
                    verdict.faults.iter().map(spoken).collect::<Vec<_>>(),
                    verdict.not_checked
                );
                if !KNOWN_DIFFERENCES.iter().any(|(known, _)| *known == name) {
                    unexplained.push(name.to_owned());
                }
                continue;
            }
            same_verdict += 1;
            let mut said: Vec<String> = verdict.faults.iter().map(spoken).collect();
            said.sort();
            expected.sort();
            let same = if status == 400 {
                let text = &verdict.faults[0].server_message;
                expected[0].contains(text.as_str())
            } else {
                old_refused || said == expected
            };
            if same {
                same_text += 1;
            } else {
                let _ = writeln!(report, "{name}: {object}\n  server {expected:?}\n  ours   {said:?}");
            }
        }
    }
    let share = |count: usize| 100.0 * count as f64 / answers as f64;
    println!("{report}");
    println!(
        "{answers} answers: same verdict {same_verdict} ({:.1} %), also same paths and texts {same_text} ({:.1} %), not checked {open}, laxer {}",
        share(same_verdict),
        share(same_text),
        laxer.len()
    );
    assert!(laxer.is_empty(), "laxer than the API server: {laxer:#?}");
    assert!(unexplained.is_empty(), "differences without a reason: {unexplained:?}");
    assert!(same_verdict >= LEAST_SAME_VERDICT, "the verdict agrees in {same_verdict} of {answers} only");
    assert!(same_text >= LEAST_SAME_TEXT, "the texts agree in {same_text} of {answers} only");
}

/// One small change somewhere in a value.
fn mutate(value: &mut Value, choices: &mut impl Iterator<Item = u8>) {
    let mut next = || usize::from(choices.next().unwrap_or_default());
    let mut at = value;
    for _ in 0..next() % 6 {
        let step = next();
        let nested = match at {
            Value::Object(map) if !map.is_empty() => {
                let position = step % map.len();
                map.values().nth(position).is_some_and(|child| child.is_object() || child.is_array())
            }
            Value::Array(items) if !items.is_empty() => items[step % items.len()].is_object(),
            _ => false,
        };
        if !nested {
            break;
        }
        at = match at {
            Value::Object(map) => {
                let position = step % map.len();
                map.values_mut().nth(position).expect("inside the map")
            }
            Value::Array(items) => {
                let position = step % items.len();
                &mut items[position]
            }
            _ => unreachable!("only containers are entered"),
        };
    }
    let samples = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("é\u{0}x"),
        json!("9".repeat(300)),
        json!([]),
        json!([[null, {"a": [1]}]]),
        json!({}),
        json!({"a": {"b": null}, "": 1}),
    ];
    let sample = samples[next() % samples.len()].clone();
    match at {
        Value::Object(map) if !map.is_empty() => {
            let position = next() % map.len();
            let key = map.keys().nth(position).cloned().expect("inside the map");
            match next() % 3 {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert(format!("{key}x"), sample)),
                _ => drop(map.insert(key, sample)),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let position = next() % items.len();
            match next() % 3 {
                0 => drop(items.remove(position)),
                1 => items.push(items[position].clone()),
                _ => items[position] = sample,
            }
        }
        other => *other = sample,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands in an object, checking it ends with a verdict.
    #[test]
    fn mutated_objects_never_panic(seed in proptest::collection::vec(any::<u8>(), 64)) {
        let all = cases();
        let case = &all[usize::from(seed[0]) % all.len()];
        let schema = CompiledSchema::new(&case["schema"]);
        let mut choices = seed.iter().copied().skip(1);
        for test in case["tests"].as_array().expect("tests") {
            let before = complete(&test["object"]);
            let mut object = before.clone();
            for _ in 0..3 {
                mutate(&mut object, &mut choices);
                let _ = schema.validate(&object, None);
                let _ = schema.validate(&object, Some(&before));
                let _ = schema.validate(&before, Some(&object));
            }
        }
    }
}

#[test]
fn unknown_places_decide_nothing() {
    let schema = CompiledSchema::new(&json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "l": {"type": "array", "maxItems": 3, "items": {"type": "string"}}},
        "x-kubernetes-validations": [
            {"rule": "self.a > 3", "message": "a is small"},
            {"rule": "self.b != 'bad'", "message": "b is bad"},
            {"rule": "self.b == 'bad' || self.a > 3", "message": "either"},
            {"rule": "size(self.l) > 0", "message": "l is empty"},
        ],
    }}}));
    let object = complete(&json!({"spec": {"a": "{{ .Values.a }}", "b": "bad", "l": []}}));
    let unknown = BTreeSet::from([Path::parse("spec.a")]);
    let verdict = schema.validate_partly_known(&object, None, &unknown);
    let said: Vec<String> = verdict.faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
    assert_eq!(said, ["spec: b is bad", "spec: l is empty"]);
    let open: Vec<_> = verdict.not_checked.iter().map(|open| (&open.check, &open.reason)).collect();
    assert_eq!(open, [(&Check::Rule("self.a > 3".to_owned()), &Reason::UnknownValue)]);
}

#[test]
fn rules_that_are_not_understood_are_said_to_be_unchecked() {
    for rule in ["cel.bind(x, self, x)", "self.nothing()", "self ==", "math.abs(self.a) == 1", "Type{a: 1}.a == 1"] {
        let schema = CompiledSchema::new(&json!({"type": "object", "x-kubernetes-validations": [{"rule": rule}]}));
        let verdict = schema.validate(&complete(&json!({})), None);
        assert!(verdict.faults.is_empty(), "{rule}: {:?}", verdict.faults);
        assert_eq!(verdict.not_checked.len(), 1, "{rule}");
        assert_eq!(schema.uncheckable_rules().len(), 1, "{rule}");
    }
}

#[test]
fn the_name_that_was_meant_is_suggested_unless_it_is_taken() {
    let schema =
        CompiledSchema::new(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "models": {"type": "array", "items": {"type": "string"}}, "tools": {"type": "string"}}}}}));
    let verdict = schema.validate(&complete(&json!({"spec": {"modles": ["x"]}})), None);
    let fault = &verdict.faults[0];
    assert_eq!(fault.kind, FaultKind::UnknownField);
    assert_eq!(fault.message, "unknown field \"modles\"; did you mean \"models\"?");
    assert_eq!(fault.suggestion.as_deref(), Some("models"));
    let both = json!({"spec": {"modles": ["x"], "models": ["y"]}});
    assert_eq!(schema.validate(&complete(&both), None).faults[0].suggestion, None);
}
