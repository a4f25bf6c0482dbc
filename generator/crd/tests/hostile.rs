//! Objects and rules that would take a careless validator for ever, or its stack. What counts is that an answer comes,
//! and that what was not looked at is said.

use crd_validator::{Check, CompiledSchema, Reason};
use serde_json::{Value, json};

fn schema(spec: Value) -> CompiledSchema {
    CompiledSchema::new(&json!({"type": "object", "properties": {"spec": spec}}))
}

fn object(spec: Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn a_very_deep_object_is_not_looked_at() {
    let mut value = json!({});
    for _ in 0..crd_validator::MAX_DEPTH {
        value = json!({ "a": value });
    }
    let schema = schema(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let verdict = schema.validate(&object(value), None);
    assert!(verdict.faults.is_empty());
    assert_eq!((&verdict.not_checked[0].check, &verdict.not_checked[0].reason), (&Check::Object, &Reason::TooDeep));
}

#[test]
fn faults_in_every_item_of_a_long_list_are_all_found() {
    let count = 100_000;
    let wrong: Vec<Value> = (0..count).map(|number| json!({ "n": number.to_string() })).collect();
    let items = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}});
    assert_eq!(schema(items).validate(&object(wrong.into()), None).faults.len(), count);
}

#[test]
fn long_keyed_lists_are_compared_with_their_old_ones() {
    let count = 50_000;
    let list = |from: usize| -> Value { (from..from + count).map(|number| json!({"k": number, "v": "x"})).collect() };
    let schema = schema(json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"type": "integer"}, "v": {"type": "string", "pattern": "^y$"}},
            "x-kubernetes-validations": [{"rule": "self.v == oldSelf.v"}],
        },
    }));
    // What was wrong before and has not changed is forgiven: the new items alone are at fault.
    let verdict = schema.validate(&object(list(10)), Some(&object(list(0))));
    assert_eq!(verdict.faults.len(), 10);
}

#[test]
fn rules_that_take_too_long_are_reported_as_not_checked() {
    let slow = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))";
    let long = "self.all(a, 'x'.matches('y') || string(a).split('').size() < 0 || self.size() > 0)";
    let numbers: Vec<u32> = (0..1_000).collect();
    let rules = json!([{"rule": slow}, {"rule": long}]);
    let schema = schema(json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": rules}));
    let verdict = schema.validate(&object(numbers.into()), None);
    let open: Vec<_> = verdict.not_checked.iter().map(|open| (&open.check, &open.reason)).collect();
    assert_eq!(open, [(&Check::Rule(slow.to_owned()), &Reason::TooManySteps)]);
    assert!(verdict.faults.is_empty());
}

#[test]
fn texts_that_a_rule_reads_again_and_again_count() {
    let rule = "self.list.all(i, self.text.matches('(a|b)*c$') || !self.text.contains('aaaab'))";
    let schema = schema(json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "list": {"type": "array", "items": {"type": "integer"}}},
        "x-kubernetes-validations": [{"rule": rule}],
    }));
    let list: Vec<u32> = (0..10_000).collect();
    let verdict = schema.validate(&object(json!({"text": "a".repeat(1_000_000), "list": list})), None);
    assert_eq!(verdict.not_checked[0].reason, Reason::TooManySteps);
}

#[test]
fn all_rules_on_an_object_share_a_budget() {
    let rule = "size(self) == 0 || lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0))";
    let schema = schema(json!({
        "type": "array",
        "items": {"type": "string", "x-kubernetes-validations": [{"rule": rule}]},
    }));
    let items: Vec<&str> = vec!["x"; 10_000];
    let verdict = schema.validate(&object(json!(items)), None);
    assert_eq!(verdict.not_checked.len(), 1);
    assert_eq!(verdict.not_checked[0].reason, Reason::TooManySteps);
}

#[test]
fn a_pattern_that_takes_much_memory_is_reported_as_not_checked() {
    let pattern = "((((x{1,100}){1,100}){1,100}){1,100})";
    let verdict = schema(json!({"type": "string", "pattern": pattern})).validate(&object(json!("x")), None);
    assert!(verdict.faults.is_empty());
    assert_eq!(verdict.not_checked[0].check, Check::Pattern(pattern.to_owned()));
}

#[test]
fn rules_nested_too_deep_are_reported_as_not_checked() {
    let around = |depth: usize| format!("{}true{}", "(".repeat(depth), ")".repeat(depth));
    let rules = [
        around(200),
        around(5_000),
        format!("{}true", "!".repeat(100_000)),
        format!("self{} == 1", ".a".repeat(5_000)),
        format!("self{} == 1", "[0]".repeat(5_000)),
        format!("{}1 == 1", "1 + ".repeat(3_000)),
    ];
    for rule in rules {
        let schema = schema(json!({"type": "string", "x-kubernetes-validations": [{"rule": rule}]}));
        let verdict = schema.validate(&object(json!("x")), None);
        assert!(verdict.faults.is_empty());
        assert!(matches!(verdict.not_checked[0].reason, Reason::Unsupported(_)));
    }
}
