//! Completion contexts: `$0` is the cursor.

use llsd_yaml::cursor::{CursorPlace, cursor_at};
use llsd_yaml::{Step, parse_document};

fn path(steps: &[Step]) -> String {
    let parts: Vec<String> = steps
        .iter()
        .map(|s| match s {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        })
        .collect();
    parts.join("/")
}

fn at(fixture: &str) -> String {
    let offset = fixture.find("$0").expect("a cursor");
    let text = fixture.replace("$0", "");
    let doc = parse_document(&text);
    let cursor = cursor_at(&doc, offset);
    let place = match &cursor.place {
        CursorPlace::Key { existing } => {
            format!("key in `{}` beside [{}]", path(&cursor.container), existing.join(","))
        }
        CursorPlace::Value { path: p } => format!("value {}", path(p)),
        CursorPlace::Item { path: p } => format!("item {}", path(p)),
        CursorPlace::Comment => "comment".to_owned(),
        CursorPlace::None => "none".to_owned(),
    };
    let space = if cursor.needs_space { " with space" } else { "" };
    format!("{place}; {:?} of {:?}{space}", cursor.prefix, cursor.replace.slice(&text))
}

#[track_caller]
fn check(fixture: &str, expected: &str) {
    assert_eq!(at(fixture), expected, "{fixture}");
}

#[test]
fn keys() {
    check("$0", r#"key in `` beside []; "" of """#);
    check("ki$0", r#"key in `` beside []; "ki" of "ki""#);
    check("a: 1\nki$0nd\nb: 2\n", r#"key in `` beside [a,b]; "ki" of "kind""#);
    check("a: 1\nki$0nd: x\nb: 2\n", r#"key in `` beside [a,b]; "ki" of "kind""#);
    check("spec:\n  ser$0\n", r#"key in `spec` beside []; "ser" of "ser""#);
    check("spec:\n  a: 1\n  ser$0\n", r#"key in `spec` beside [a]; "ser" of "ser""#);
    check("spec:\n  ser$0\n  a: 1\n", r#"key in `spec` beside [a]; "ser" of "ser""#);
    check("spec:\n  a:\n    b: 1\n  ser$0\nz: 1\n", r#"key in `spec` beside [a]; "ser" of "ser""#);
    check("l:\n  - name: x\n    va$0\n  - name: y\n", r#"key in `l/0` beside [name]; "va" of "va""#);
    check("l:\n- name: x\n  va$0\n- name: y\n", r#"key in `l/0` beside [name]; "va" of "va""#);
    check("l:\n  - na$0me: x\n", r#"key in `l/0` beside []; "na" of "name""#);
    check("\"a$0b\": x\n", r#"key in `` beside []; "a" of "\"ab\"""#);
}

/// A key written anew above what stood below the old one does not go on with the value above it.
#[test]
fn a_key_above_deeper_lines() {
    for word in ["s", "sto", "storage"] {
        let text =
            format!("spec:\n  distribution:\n    name: demo\n  {word}\n    kv:\n      type: redis\n  disabled: []\n");
        let document = parse_document(&text);
        let value = |steps: &[&str]| {
            let steps: Vec<Step> = steps.iter().map(|key| Step::Key((*key).to_owned())).collect();
            document.find(&steps).map(|node| node.value().into_owned())
        };
        assert_eq!(value(&["spec", "distribution", "name"]).as_deref(), Some("demo"), "{text}");
        assert_eq!(value(&["spec", word, "kv", "type"]).as_deref(), Some("redis"), "{text}");
        assert!(value(&["spec", "disabled"]).is_some(), "{text}");
    }
    check(
        "spec:\n  distribution:\n    name: demo\n  st$0\n    kv: {}\n",
        r#"key in `spec` beside [distribution]; "st" of "st""#,
    );
}

#[test]
fn empty_lines() {
    check("spec:\n  $0\n", r#"key in `spec` beside []; "" of """#);
    check("spec:\n$0\n", r#"key in `` beside [spec]; "" of """#);
    check("spec:\n  a: 1\n  $0\n  b: 2\n", r#"key in `spec` beside [a,b]; "" of """#);
    check("spec:\n  a: 1\n$0\n  b: 2\n", r#"key in `` beside [spec]; "" of """#);
    check("spec:\n  a:\n    b: 1\n  $0\n", r#"key in `spec` beside [a]; "" of """#);
    check("spec:\n  a:\n    b: 1\n    $0\n", r#"key in `spec/a` beside [b]; "" of """#);
    check("spec:\n\n  $0\n  a: 1\n", r#"key in `spec` beside [a]; "" of """#);
    check("l:\n  - name: x\n    $0\n", r#"key in `l/0` beside [name]; "" of """#);
    check("l:\n  - name: x\n  $0\n", r#"item l/1; "" of """#);
    check("l:\n  - name: x\n    v:\n      $0\n", r#"key in `l/0/v` beside []; "" of """#);
    check("t: |\n  text\n  $0\n", r#"none; "" of """#);
    check("t: |\n  text\n$0\n", r#"key in `` beside [t]; "" of """#);
}

#[test]
fn values() {
    check("a: $0\n", r#"value a; "" of """#);
    check("a:$0\n", r#"value a; "" of "" with space"#);
    check("a: fo$0o\n", r#"value a; "fo" of "foo""#);
    check("a: foo$0 # c\n", r#"value a; "foo" of "foo""#);
    check("a: \"fo$0o\"\n", r#"value a; "fo" of "\"foo\"""#);
    check("a: \"fo$0\nb: 1\n", r#"value a; "fo" of "\"fo""#);
    check("a: $0 # c\n", r#"value a; "" of """#);
    check("a:\n  b: $0\n  c: 1\n", r#"value a/b; "" of """#);
    check("a: $0\n  b: 1\n", r#"none; "" of """#);
    check("a:$0 foo\n", r#"value a; "" of " foo" with space"#);
    check("- $0 foo # c\n", r#"item 0; "" of " foo""#);
    check("a:$0 [b]\n", r#"none; "" of """#);
    check("l:\n  - name: $0\n", r#"value l/0/name; "" of """#);
    check("a: # com$0\n", r#"comment; "" of """#);
    check("a: |\n  te$0xt\n", r#"none; "" of """#);
}

#[test]
fn items() {
    check("l:\n  - $0\n", r#"item l/0; "" of """#);
    check("l:\n  -$0\n", r#"item l/0; "" of "" with space"#);
    check("l:\n  - a\n  - $0\n", r#"item l/1; "" of """#);
    check("l:\n- a\n- b$0\n", r#"item l/1; "b" of "b""#);
    check("l:\n  - na$0\n", r#"item l/0; "na" of "na""#);
}

#[test]
fn flow() {
    check("a: {$0}\n", r#"key in `a` beside []; "" of """#);
    check("a: {b: 1, $0}\n", r#"key in `a` beside [b]; "" of """#);
    check("a: {b: 1, cc$0}\n", r#"key in `a` beside [b]; "cc" of "cc""#);
    check("a: {b: $0}\n", r#"value a/b; "" of """#);
    check("a: {b: x$0, c: 1}\n", r#"value a/b; "x" of "x""#);
    check("a: [$0]\n", r#"item a/0; "" of """#);
    check("a: [x, $0]\n", r#"item a/1; "" of """#);
    check("a: [x, y$0]\n", r#"item a/1; "y" of "y""#);
    check("a: [x, $0\nb: 1\n", r#"item a/1; "" of """#);
    check("a: [{n: 1, $0}]\n", r#"key in `a/0` beside [n]; "" of """#);
    check("a: {$0, b: 1}\n", r#"key in `a` beside [b]; "" of """#);
    check("a: {b: 1, $0, c: {d: 2}}\n", r#"key in `a` beside [b,c]; "" of """#);
    check("l:\n  - {n: 1, $0, c: {d: 2}}\n", r#"key in `l/0` beside [n,c]; "" of """#);
    check("l:\n  - {$0, n: 1, c: {d: 2}}\n", r#"key in `l/0` beside [n,c]; "" of """#);
    check("a: [$0, x]\n", r#"item a/0; "" of """#);
    check("a: [x, $0, y]\n", r#"item a/1; "" of """#);
}

#[test]
fn brackets_that_are_still_open() {
    check("a: [{b: $0", r#"value a/0/b; "" of """#);
    check("a: [{b: x, c$0", r#"key in `a/0` beside [b]; "c" of "c""#);
    check("a: {b: 1, c: {$0", r#"key in `a/c` beside []; "" of """#);
    check("a: {b: [x], c: [$0", r#"item a/c/0; "" of """#);
    check("a: [{b: \"$0", r#"value a/0/b; "" of "\"""#);
}

#[test]
fn in_front_of_a_comment() {
    check("a:\n  $0  # c\n  b: 1\n", r#"key in `a` beside [b]; "" of """#);
    check("a:\n  $0  # c\n", r#"key in `a` beside []; "" of """#);
    check("a:\n  d$0  # c\n  b: 1\n", r#"key in `a` beside [b]; "d" of "d""#);
    check("a:\n  b:\n    $0  # c\n  c: 1\n", r#"key in `a/b` beside []; "" of """#);
}

#[test]
fn quoted_keys() {
    check("\"$0", r#"key in `` beside []; "" of "\"""#);
    check("\"a\": 1\n\"b$0", r#"key in `` beside [a]; "b" of "\"b""#);
    check("a:\n  \"$0", r#"key in `a` beside []; "" of "\"""#);
    check("a:\n  \"b$0\"\n", r#"key in `a` beside []; "b" of "\"b\"""#);
    check("a:\n  \"b\": 1\n  'c$0'\n", r#"key in `a` beside [b]; "c" of "'c'""#);
}

#[test]
fn keys_beside_template_lines() {
    check("a:\n  b$0\n  {{- with .x }}\n  c: 1\n  {{- end }}\n", r#"key in `a` beside [c]; "b" of "b""#);
}

#[test]
fn in_front_of_a_colon() {
    check("$0: x\nb: 1\n", r#"key in `` beside [b]; "" of """#);
    check("$0:\n  x: 1\nb: 2\n", r#"key in `` beside [b]; "" of """#);
    check("spec:\n  $0: x\n  b: 1\n", r#"key in `spec` beside [b]; "" of """#);
    check("spec:\n  a: 1\n  $0:\n    c: 1\n  b: 1\n", r#"key in `spec` beside [a,b]; "" of """#);
    check("spec:\n  a:\n    $0:\n      c: 1\n  b: 1\n", r#"key in `spec/a` beside []; "" of """#);
    check("spec:\n  a: 1\n  $0 : x\n", r#"key in `spec` beside [a]; "" of """#);
    check("spec:\n  pr$0: x\n  b: 1\n", r#"key in `spec` beside [b]; "pr" of "pr""#);
    check("l:\n  - $0: x\n    b: 1\n", r#"key in `l/0` beside [b]; "" of """#);
    check("l:\n  - a: 1\n    $0: x\n  - c: 1\n", r#"key in `l/0` beside [a]; "" of """#);
    check("l:\n  - - $0: x\n", r#"key in `l/0/0` beside []; "" of """#);
    check("l: {$0: x, b: 1}\n", r#"key in `l` beside [b]; "" of """#);
    check("l: {b: 1, $0: x}\n", r#"key in `l` beside [b]; "" of """#);
    check("l: [{b: 1}, {$0: x}]\n", r#"key in `l/1` beside []; "" of """#);
    check("a: b\nc $0: x\n", r#"none; "" of """#);
}

#[test]
fn behind_a_dash_with_keys_below() {
    check("l:\n  - $0\n    b: 1\n", r#"key in `l/0` beside [b]; "" of """#);
    check("l:\n  - $0 # loud\n    b: 1\n", r#"key in `l/0` beside [b]; "" of """#);
    check("l:\n  - $0\n    # loud\n\n    # and long\n    b: 1\n", r#"key in `l/0` beside [b]; "" of """#);
    check("l:\n  - a: 1\n  - $0 # loud\n    b: 1\n", r#"key in `l/1` beside [b]; "" of """#);
}

#[test]
fn an_entry_is_missing_between_brackets_and_more_follows() {
    check("l:\n  - {$0, a: 1}\n  - {b: 1, a: 2}\n", r#"key in `l/0` beside [a]; "" of """#);
    check("l:\n  - {b: 1, $0, c: \"x\"}\n  - {b: 2}\n", r#"key in `l/0` beside [b,c]; "" of """#);
    check("l:\n  - [$0, a]\n  - [b]\n", r#"item l/0/0; "" of """#);
}

#[test]
fn a_quote_that_was_just_opened() {
    check("\"a\": \"b\"\n\"$0\n\"c\": d\n", r#"key in `` beside [a,c]; "" of "\"""#);
    check("\"a\": \"b\"\n\"$0\n", r#"key in `` beside [a]; "" of "\"""#);
    check("a:\n  \"b\": 'c'\n  \"$0\nd: e\n", r#"key in `a` beside [b]; "" of "\"""#);
    check("a:\n  b:\n  - \"c\": \"d\"\n  \"$0\n  \"e\":\n    f: g\n", r#"key in `a` beside [b,e]; "" of "\"""#);
}

#[test]
fn the_first_key_of_an_item_half_typed() {
    check("v:\n  - a: b\n    c: d\n  - n$0\n    e: {}\n", r#"key in `v/1` beside [e]; "n" of "n""#);
    check("v:\n  - a: b\n    p:\n      c: d\n  - n$0\n    e: {}\n", r#"key in `v/1` beside [e]; "n" of "n""#);
    check("v:\n- a: b\n  c: d\n- n$0\n  e:\n    f: g\n- a: h\n", r#"key in `v/1` beside [e]; "n" of "n""#);
}

#[test]
fn half_typed_keys_in_a_row() {
    check("a:\n  b$0\n  c\n", r#"key in `a` beside []; "b" of "b""#);
    check("a:\n  b\n  c$0\n", r#"key in `a` beside []; "c" of "c""#);
    check("a:\n  text of$0 a\n  few lines\n", r#"value a; "text of" of "text of a\n  few lines""#);
    check("s:\n  p:\n    i: [{q: v\n  re$0\n", r#"key in `s` beside [p]; "re" of "re""#);
}

/// Where nothing could be written without breaking what stands around, nothing is found.
#[test]
fn columns_that_do_not_fit() {
    check("a:\n  b: c\n    $0\n  d: e\n", r#"none; "" of """#);
    check("a:\n    b: c\n  $0\n", r#"none; "" of """#);
    check("a:\n  - b: c\n      $0\n", r#"none; "" of """#);
    check("a:\n  b:\n  $0\n    c: d\n", r#"none; "" of """#);
    check("a:\n  b:\n    - c\n  $0\n", r#"key in `a` beside [b]; "" of """#);
    check("a:\n  b:\n  $0\n  - c\n", r#"item a/b/0; "" of """#);
    check("a:\n  b:\n  $0\n    - c\n", r#"none; "" of """#);
    check("a:\n  b:\n    $0\n    - c\n", r#"item a/b/0; "" of """#);
}

/// A line is empty again above what belonged to its key.
#[test]
fn between_a_key_and_what_is_two_levels_below() {
    check("a:\n  $0\n    c: d\n", r#"key in `a` beside []; "" of """#);
}
