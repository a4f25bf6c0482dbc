//! Texts made to hurt a parser, each for any size.

#![allow(unreachable_pub)]

/// Makes a text of `n` pieces.
pub type Make = fn(usize) -> String;

fn nested(n: usize, line: &str) -> String {
    // The text grows with the square of its depth, so the depth grows with the root.
    let depth = (1..).take_while(|d| d * d < 4 * n).last().unwrap_or(1);
    (0..depth).map(|i| format!("{}{line}\n", " ".repeat(i))).collect()
}

/// The hostile set: deep, long, wide, unclosed, and what is quick to write but large to expand.
pub const TEXTS: &[(&str, Make)] = &[
    ("deep brackets", |n| "[".repeat(n)),
    ("deep closed brackets", |n| format!("{}{}", "[".repeat(n), "]".repeat(n))),
    ("row of empty lists", |n| "[]".repeat(n)),
    ("deep braces", |n| "{a:".repeat(n)),
    ("deep dashes", |n| "- ".repeat(n)),
    ("deep question marks", |n| "? ".repeat(n)),
    ("nested maps", |n| nested(n, "a:")),
    ("nested open brackets", |n| nested(n, "a: [")),
    ("nested open quotes", |n| nested(n, "a: \"")),
    ("nested keys in braces", |n| nested(n, "{ a: b")),
    ("long line of words", |n| format!("k: {}", "word ".repeat(n))),
    ("long key", |n| format!("{}: x\n", "k".repeat(n))),
    ("long quoted line", |n| format!("k: \"{}\"\n", "word ".repeat(n))),
    ("long open quote", |n| format!("k: \"{}", "\\\" ".repeat(n))),
    ("long comment", |n| format!("# {}\na: 1\n", "word ".repeat(n))),
    ("keys", |n| (0..n).map(|i| format!("k{i}: v\n")).collect()),
    ("items", |n| "- a\n".repeat(n)),
    ("comments", |n| "# c\n".repeat(n)),
    ("lines of a text block", |n| format!("a: |\n{}", "  x\n".repeat(n))),
    ("lines of a plain text", |n| format!("a:\n{}", "  x\n".repeat(n))),
    ("entries in braces", |n| format!("a: {{{}}}\n", "b: 1, ".repeat(n))),
    ("entries in open braces", |n| format!("a: {{\n{}", "  b: 1,\n".repeat(n))),
    ("documents", |n| "---\na: 1\n".repeat(n)),
    ("anchors", |n| (0..n).map(|i| format!("k{i}: &a{i} x\n")).collect()),
    ("aliases that double", |n| {
        let mut text = "a0: &a0 [x, x]\n".to_owned();
        for i in 1..n {
            text.push_str(&format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
        }
        text
    }),
    ("tabs", |n| "\ta: 1\n".repeat(n)),
    ("a line of tabs", |n| format!("a:{}1\n", "\t".repeat(n))),
    ("open quotes", |n| "a: \"x\n".repeat(n)),
    ("open brackets", |n| "a: [x\n".repeat(n)),
    ("quotes that end early", |n| "a: \"x\" y\n".repeat(n)),
    ("two keys on a line", |n| "a: b: c\n".repeat(n)),
    ("stairs", |n| (0..n).map(|i| format!("{}a: 1\n", " ".repeat((i * 7919) % 23))).collect()),
    ("half keys above keys", |n| "a\n  b\n  c: 1\n".repeat(n)),
    ("parents commented out", |n| "a:\n# b:\n    c: 1\n  d: 2\n".repeat(n)),
    ("nested parents commented out", |n| nested(n, "a:\n# b:")),
    ("a long gap above each line", |n| format!("a: 1\n{}", "  \n# b:\n".repeat(n)) + "    c: 1\nd: 2\n"),
    ("lists below values", |n| "a: 1\n  - b: c\n    d: e\n".repeat(n)),
    ("lines from elsewhere", |n| "a:\n  b: 1\n{\n\"c\": 1\n}\n  d: 1\n".repeat(n)),
    ("conflicts", |n| "<<<<<<< a\nx: 1\n=======\nx: 2\n>>>>>>> b\n".repeat(n)),
    ("template lines", |n| "{{ if .x }}\na: 1\n{{ end }}\n".repeat(n)),
    ("one break in a long text", |n| format!("{}  x\n{}", "a:\n  b: 1\n".repeat(n / 2), "a:\n  b: 1\n".repeat(n / 2))),
    ("carriage returns", |n| "a: 1\r".repeat(n)),
    ("byte order marks", |n| "\u{feff}a: 1\n".repeat(n)),
];
