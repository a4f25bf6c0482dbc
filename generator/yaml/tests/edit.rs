//! Edits of text: comments stay, indentation fits.

use llsd_yaml::edit::{
    Position, apply, insert_entry, insert_item, quote_block_scalar, quote_scalar, remove_entry, rename_key,
    replace_value,
};
use llsd_yaml::{Document, Node, Step, parse_document};

fn steps(path: &str) -> Vec<Step> {
    path.split('/')
        .filter(|p| !p.is_empty())
        .map(|p| p.parse().map(Step::Index).unwrap_or_else(|_| Step::Key(p.to_owned())))
        .collect()
}

fn node<'d>(doc: &'d Document, path: &str) -> Node<'d> {
    doc.find(&steps(path)).expect("the path exists")
}

#[track_caller]
fn replaced(text: &str, path: &str, yaml: &str, expected: &str) {
    let doc = parse_document(text);
    assert_eq!(apply(text, &replace_value(node(&doc, path), yaml)), expected);
}

#[track_caller]
fn removed(text: &str, path: &str, expected: &str) {
    let doc = parse_document(text);
    assert_eq!(apply(text, &remove_entry(node(&doc, path))), expected);
}

#[track_caller]
fn inserted(text: &str, path: &str, key: &str, yaml: &str, position: Position<'_>, expected: &str) {
    let doc = parse_document(text);
    let edits = insert_entry(&doc, &steps(path), key, yaml, position).expect("it can be inserted");
    assert_eq!(apply(text, &edits), expected);
}

#[track_caller]
fn item(text: &str, path: &str, yaml: &str, index: Option<usize>, expected: &str) {
    let doc = parse_document(text);
    let edits = insert_item(&doc, &steps(path), yaml, index).expect("it can be inserted");
    assert_eq!(apply(text, &edits), expected);
}

#[test]
fn replace() {
    replaced("a: 1 # c\nb: 2\n", "a", "x", "a: x # c\nb: 2\n");
    replaced("a: # c\nb: 2\n", "a", "x", "a: x # c\nb: 2\n");
    replaced("a:\nb: 2\n", "a", "x", "a: x\nb: 2\n");
    replaced("a: 1 # c\nb: 2\n", "a", "x: 1\ny: 2", "a: # c\n  x: 1\n  y: 2\nb: 2\n");
    replaced("a:\n  x: 1\n  y: 2\nb: 2\n", "a", "z", "a: z\nb: 2\n");
    replaced("a: # c\n  x: 1\n  y: 2\nb: 2\n", "a", "z: 1", "a: # c\n  z: 1\nb: 2\n");
    replaced("a: {x: 1}\n", "a/x", "[1, 2]", "a: {x: [1, 2]}\n");
    replaced("a: {x: 1}\n", "a/x", "b: 1\nc:\n  - d\n", "a: {x: {b: 1, c: [d]}}\n");
    replaced("l:\n  - a # c\n  - b\n", "l/0", "x: 1\ny: 2", "l:\n  - x: 1 # c\n    y: 2\n  - b\n");
    replaced("l:\n  - x: 1\n    y: 2\n", "l/0", "z", "l:\n  - z\n");
    replaced("a: 1\n", "a", "|\n  t1\n  t2", "a: |\n    t1\n    t2\n");
    replaced("a: &x 1\n", "a", "2", "a: &x 2\n");
}

#[test]
fn rename() {
    let text = "a:\n  b: 1 # c\n";
    let doc = parse_document(text);
    assert_eq!(apply(text, &rename_key(node(&doc, "a/b"), "x y")), "a:\n  x y: 1 # c\n");
    assert_eq!(apply(text, &rename_key(node(&doc, "a/b"), "yes")), "a:\n  \"yes\": 1 # c\n");
}

#[test]
fn remove() {
    removed("a: 1\nb: 2 # c\nd: 3\n", "b", "a: 1\nd: 3\n");
    removed("a: 1\n# about b\n# more\nb: 2\nd: 3\n", "b", "a: 1\nd: 3\n");
    removed("a: 1\n# section\n\n# about b\nb:\n  x: 1\nd: 3\n", "b", "a: 1\n# section\n\nd: 3\n");
    removed("a: 1\nb: 2", "b", "a: 1");
    removed("l:\n  - n: 1\n    v: 2\n", "l/0/n", "l:\n  - v: 2\n");
    removed("l:\n  - n: 1\n    v: 2\n  - n: 2\n", "l/0", "l:\n  - n: 2\n");
    removed("l:\n- a\n- b\nz: 1\n", "l/1", "l:\n- a\nz: 1\n");
    removed("l:\n- a\nz: 1\n", "l/0", "l: []\nz: 1\n");
    removed("a:\n  b: 1\nz: 1\n", "a/b", "a: {}\nz: 1\n");
    removed("a: {b: 1, c: 2, d: 3}\n", "a/b", "a: {c: 2, d: 3}\n");
    removed("a: {b: 1, c: 2, d: 3}\n", "a/c", "a: {b: 1, d: 3}\n");
    removed("a: {b: 1, c: 2, d: 3}\n", "a/d", "a: {b: 1, c: 2}\n");
    removed("a: [x]\n", "a/0", "a: []\n");
    removed("a: 1\nt: |\n  x\n  y\nb: 1\n", "t", "a: 1\nb: 1\n");
}

#[test]
fn insert() {
    inserted("a: 1\n", "", "b", "2", Position::Last, "a: 1\nb: 2\n");
    inserted("a: 1", "", "b", "2", Position::Last, "a: 1\nb: 2");
    inserted(
        "a:\n  b: 1 # c\nz: 1\n",
        "a",
        "d",
        "x: 1\ny: 2",
        Position::Last,
        "a:\n  b: 1 # c\n  d:\n    x: 1\n    y: 2\nz: 1\n",
    );
    inserted("a:\n    b: 1\n", "a", "d", "x: 1", Position::Last, "a:\n    b: 1\n    d:\n        x: 1\n");
    inserted("# c\na: 1\n", "", "b", "2", Position::First, "b: 2\n# c\na: 1\n");
    inserted("a: 1\nc: 3\n", "", "b", "2", Position::After("a"), "a: 1\nb: 2\nc: 3\n");
    inserted("a: 1\nc: 3\n", "", "b", "2", Position::Before("c"), "a: 1\nb: 2\nc: 3\n");
    inserted("l:\n  - n: 1\n", "l/0", "b", "2", Position::First, "l:\n  - b: 2\n    n: 1\n");
    inserted("l:\n  - n: 1\n", "l/0", "b", "2", Position::Last, "l:\n  - n: 1\n    b: 2\n");
    inserted("a: {x: 1}\n", "a", "b", "2", Position::Last, "a: {x: 1, b: 2}\n");
    inserted("a: {}\nz: 1\n", "a", "b", "2", Position::Last, "a:\n  b: 2\nz: 1\n");
    inserted("a: # c\nz: 1\n", "a", "b", "2", Position::Last, "a: # c\n  b: 2\nz: 1\n");
    inserted("a:\nz: 1\n", "a/b/c", "d", "2", Position::Last, "a:\n  b:\n    c:\n      d: 2\nz: 1\n");
    inserted("a: 1\n", "s/t", "d", "2", Position::Last, "a: 1\ns:\n  t:\n    d: 2\n");
    inserted("", "s", "d", "2", Position::Last, "s:\n  d: 2\n");
    inserted("a: 1\r\n", "s", "d", "2", Position::Last, "a: 1\r\ns:\r\n  d: 2\r\n");
    inserted("a: |\n  x\nz: 1\n", "", "b", "2", Position::After("a"), "a: |\n  x\nb: 2\nz: 1\n");
}

#[test]
fn insert_items() {
    item("l:\n  - a\n", "l", "b", None, "l:\n  - a\n  - b\n");
    item("l:\n- a\n", "l", "x: 1\ny: 2", Some(0), "l:\n- x: 1\n  y: 2\n- a\n");
    item("l: [a]\n", "l", "b", None, "l: [a, b]\n");
    item("l: []\nz: 1\n", "l", "b", None, "l:\n  - b\nz: 1\n");
    item("l:\nz: 1\n", "l", "b", None, "l:\n  - b\nz: 1\n");
    item("z: 1\n", "a/l", "b", None, "z: 1\na:\n  l:\n    - b\n");
}

#[test]
fn quotes() {
    for plain in ["abc", "http://x/y?z", "a b", "v1.2.3", "x-1", "-Xmx", "${env.A:=b}", "a:b"] {
        let expected = if plain.contains('{') { format!("{plain:?}") } else { plain.to_owned() };
        assert_eq!(quote_scalar(plain), expected);
        assert_eq!(quote_block_scalar(plain), plain);
    }
    for plain in ["remote::vllm", "127.0.0.1", "/.llama/kv.db", "~/x", "é", "a, b", "a - b"] {
        assert_eq!(quote_block_scalar(plain), plain);
    }
    for quoted in [
        "",
        "yes",
        "null",
        "1",
        "1e3",
        "0x1",
        "1_000",
        "12:30",
        "2024-01-01",
        "- a",
        "a: b",
        "a #b",
        "a:",
        " a",
        "a ",
        "*a",
        "{a",
        "No",
        "~",
        "007",
        "1.5",
        ".inf",
        "=",
        "<<",
        "---",
    ] {
        assert_eq!(quote_scalar(quoted), format!("{quoted:?}"));
        assert_eq!(quote_block_scalar(quoted), format!("{quoted:?}"));
    }
    assert_eq!(quote_scalar("a\nb"), "\"a\\nb\"");
    assert_eq!(quote_scalar("\u{1}\u{feff}"), "\"\\x01\\uFEFF\"");
}
