//! Texts made to hurt a parser: deep, long, wide. No time is asserted; a parser that is not linear would not finish.

use llsd_yaml::{Document, Stream, parse_document};

fn read(text: &str) -> Document {
    let doc = parse_document(text);
    // Nothing is larger than a fixed multiple of the text.
    assert!(doc.nodes().count() <= 2 * text.len() + 2);
    assert!(doc.errors().len() <= text.len() + 1);
    let _ = doc.node_at(text.len() / 2);
    if let Some(last) = doc.nodes().last() {
        let _ = last.path();
    }
    doc
}

#[test]
fn deep_nesting() {
    for piece in [
        "[", "{a:", "{a: ", "- ", "? ", "[]", "{", "[{", "- [", "? - ", "a: ", ": ", "-\n", "!a ", "&a ", "\"", "'",
        "|\n", "{{",
    ] {
        let text = piece.repeat(100_000);
        let doc = read(&text);
        if piece == "- " {
            assert_eq!(doc.depth(), 100_000);
            assert!(doc.strict_error().is_some());
        }
    }
    let closed = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read(&closed).depth(), 100_000);
}

fn nested(depth: usize, line: impl Fn(usize) -> String) -> String {
    (0..depth).map(|i| format!("{}{}\n", " ".repeat(i), line(i))).collect()
}

#[test]
fn nested_lines() {
    assert_eq!(read(&nested(3_000, |_| "a:".to_owned())).depth(), 3_000);
    for line in [
        "a: [", "a: {", "a: \"", "a: '", "[", "{", "\"a", "'", "a: b: c", "- a: |", "a", "? a", "\ta:", "a: *x",
        "{{ if }}",
    ] {
        read(&nested(1_500, |_| line.to_owned()));
    }
    // Up and down again, with every level closed by a line that fits none.
    let mut text = nested(1_500, |i| format!("k{i}:"));
    for i in (0..1_500).rev() {
        text.push_str(&format!("{}x{i}: 1\n", " ".repeat(i)));
    }
    read(&text);
    let stairs: String = (0..3_000).map(|i| format!("{}a: 1\n", " ".repeat((i * 7919) % 97))).collect();
    read(&stairs);
}

#[test]
fn long_lines() {
    for line in ["word ", "a", "\"a\" ", "a: ", "[a, ", "{a: b, ", "# ", "'", "é", "\t", " ", "- ", "a #", "{{ a }} "]
    {
        let text = format!("k: {}", line.repeat(10_000_000 / line.len() / 4));
        read(&text);
    }
}

#[test]
fn many_lines() {
    let line = |s: &str, n: usize| s.repeat(n);
    for piece in [
        "a: 1\n",
        "- a\n",
        "# c\n",
        "\n",
        "- \"a\n",
        "a: [\n",
        "a: {b\n",
        "a: '\n",
        " a\n",
        "  b: 1\n a: 2\n",
        "\ta: 1\n",
        "- - a\n",
        "a: |\n  x\n",
        "b:\n",
        "*a\n",
        "? a\n",
        "<<<<<<< a\n",
        "{{ end }}\n",
        "a\n  b\n",
        "- a\n b\n",
        "x: a: b\n",
        "x: - a\n",
        "'''x\n",
        "\"a\\\"\n",
        "a: \"x\" y\n",
        "a: [x] y\n",
        "    - x: [\n  y: 1\n",
    ] {
        read(&line(piece, 50_000));
    }
    read(&format!("a: |\n{}", line("  x\n", 50_000)));
    read(&format!("a: [\n{}]\n", line("  x,\n", 50_000)));
    read(&format!("a: [\n{}", line("  x,\n", 50_000)));
    read(&format!("a: {{\n{}}}\n", line("  x: 1,\n", 50_000)));
    read(&format!("a: \"\n{}", line("  x\n", 50_000)));
    read(&format!("[{}", line("\"a\" b, ", 50_000)));
    read(&format!("a:\n  b\n{}", line("# c\n", 50_000)));
    read(&line("a: 1\n # c\n", 50_000));
    read(&(0..20_000).map(|i| format!("k{i}: &a{i} x\n")).collect::<String>());
}

#[test]
fn many_documents() {
    let stream = Stream::parse(&"---\na: 1\n".repeat(25_000));
    assert_eq!(stream.documents().len(), 25_000);
    let stream = Stream::parse(&"---\n".repeat(25_000));
    assert_eq!(stream.documents().len(), 25_000);
}

#[test]
fn alias_bomb() {
    let mut text = "a0: &a0 [x, x]\n".to_owned();
    for i in 1..64 {
        text.push_str(&format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
    }
    let doc = read(&text);
    assert!(doc.nodes().count() < 400);
    assert_eq!(doc.strict_error(), None);
}
/// The end of a broken text may stand where a key is looked for.
#[test]
fn a_sign_and_blanks_at_the_end_of_a_broken_text() {
    for sign in [",", "+", "x", "]", "%"] {
        for blanks in ["  ", "   ", "  \t"] {
            llsd_yaml::parse_document(&format!("a: b: [\nc\n{sign}{blanks}"));
            llsd_yaml::parse_document(&format!("{sign}{blanks}\n\"\n{sign}{blanks}"));
        }
    }
}
