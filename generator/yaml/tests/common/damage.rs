//! Random damage, and how much of a text is still read behind it.

#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeMap;
use std::collections::HashSet;

use llsd_yaml::{Kind, Node, Stream};

/// A small generator of random numbers, so that every run damages the same places.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A text after random damage, and how far it reaches.
pub struct Damaged {
    pub kind: &'static str,
    pub text: String,
    /// End of the last damaged line in the text before.
    pub end: usize,
}

const CHARACTERS: &[char] = &[
    ':', '-', ' ', '"', '\'', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`', ',', '?', '\t', '=',
    '.', 'a', 'x', 'Z', '0', '7', '_', '/', '\\', '~', 'é', '\n', '<', '(', ')', '$',
];

const FRAGMENTS: &[&str] = &[
    "name",
    "spec",
    "- ",
    "-",
    "- na",
    "name: [",
    "name: {",
    "name: \"",
    "name: 'x",
    "\"name",
    "'na",
    "[",
    "{",
    "}",
    "]",
    "name: a: b",
    "? x",
    ": x",
    "|",
    ">",
    "name: |",
    "&a",
    "*x",
    "!!str",
    "@x",
    "%x",
    "\tname: 1",
    "name\t: x",
    "- name: x",
    "- name: \"x",
    "key value",
    "image: [a, b",
    "env: {a: 1",
    "- [",
    "- {",
    "name: - a",
    "}}",
    "{{",
    "name: *",
    "name: &",
    "name: !",
    "name: @x",
    "name: \"a\" b",
    "name: 'a' b",
    "name: ]",
    "name: }",
    "x: >-5x",
    "'",
    "\"",
    "`",
    "a b: c: d",
    "::",
    "- - ",
    "name: %",
    "foo(bar",
    "# c",
    "name: #",
    "--",
    "==",
    "name:: x",
    ", a",
];

/// Damages the text in one of the ways of the list in `kind` (0 to 3).
pub fn damage(text: &str, kind: usize, random: &mut Random) -> Damaged {
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |i| at + i);
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at += 1;
        }
        at
    };
    match kind {
        0 => {
            let mut out = text.to_owned();
            let mut end = 0;
            for _ in 0..1 + random.below(2) {
                let at = {
                    let mut at = random.below(out.len());
                    while !out.is_char_boundary(at) {
                        at += 1;
                    }
                    at
                };
                let c = CHARACTERS[random.below(CHARACTERS.len())];
                let replaced =
                    if random.below(2) == 0 { out[at..].chars().next().map_or(0, char::len_utf8) } else { 0 };
                // Offsets of the second hit are off by a few bytes at most; the line is what counts.
                end = end.max(line_end(boundary((at + replaced).min(text.len()))));
                out.replace_range(at..at + replaced, c.encode_utf8(&mut [0; 4]));
            }
            Damaged { kind: "characters", text: out, end }
        }
        1 => {
            let start = boundary(random.below(text.len()));
            let stop = boundary((start + 2 + random.below(29)).min(text.len()));
            let out = format!("{}{}", &text[..start], &text[stop..]);
            Damaged { kind: "deleted", text: out, end: line_end(stop) }
        }
        2 => {
            let breaks: Vec<usize> = text.match_indices('\n').map(|(i, _)| i).collect();
            let at = breaks.get(random.below(breaks.len())).copied().unwrap_or(0);
            let mut next = (at + 1).min(text.len());
            let mut glue = "";
            match random.below(3) {
                0 => {}
                1 => next += text[next..].len() - text[next..].trim_start_matches(' ').len(),
                _ => {
                    next += text[next..].len() - text[next..].trim_start_matches(' ').len();
                    glue = " ";
                }
            }
            let out = format!("{}{glue}{}", &text[..at], &text[next..]);
            Damaged { kind: "joined", text: out, end: line_end(next) }
        }
        _ => {
            let breaks: Vec<usize> = text.match_indices('\n').map(|(i, _)| i).collect();
            let at = breaks.get(random.below(breaks.len())).map_or(0, |i| i + 1);
            let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
            let above = text[..at].trim_end_matches('\n').rsplit('\n').next().map_or(0, indent);
            let below = indent(&text[at..]);
            let column = match random.below(4) {
                0 => above,
                1 => below,
                2 => above + 2,
                _ => random.below(8),
            };
            let fragment = FRAGMENTS[random.below(FRAGMENTS.len())];
            let out = format!("{}{}{fragment}\n{}", &text[..at], " ".repeat(column), &text[at..]);
            Damaged { kind: "fragment", text: out, end: at.saturating_sub(1) }
        }
    }
}

/// Paths of all keys, with document number, and the offsets of the keys.
pub fn key_paths(text: &str) -> Vec<(String, usize)> {
    let stream = Stream::parse(text);
    let mut out = Vec::new();
    for (number, located) in stream.documents().iter().enumerate() {
        let Some(root) = located.document.root() else { continue };
        let mut work: Vec<(Node<'_>, String)> = vec![(root, number.to_string())];
        while let Some((node, path)) = work.pop() {
            match node.kind() {
                Kind::Mapping => {
                    for entry in node.entries() {
                        let path = format!("{path}\u{1}{}", entry.key.key_text());
                        out.push((path.clone(), located.offset + entry.key.span().start));
                        work.push((entry.value, path));
                    }
                }
                Kind::Sequence => {
                    for (i, item) in node.items().enumerate() {
                        work.push((item, format!("{path}\u{1}{i}")));
                    }
                }
                _ => {}
            }
        }
    }
    out
}

/// Sums over many damaged texts.
#[derive(Default, Clone)]
pub struct Tally {
    pub texts: usize,
    pub keys: usize,
    pub found: usize,
    pub wrong: usize,
    /// Those of `wrong` whose own key stands on a damaged line.
    pub own: usize,
}

impl Tally {
    pub fn share(&self) -> f64 {
        100.0 * self.found as f64 / self.keys.max(1) as f64
    }

    pub fn wrong_per_text(&self) -> f64 {
        self.wrong as f64 / self.texts.max(1) as f64
    }

    pub fn add(&mut self, other: &Tally) {
        self.texts += other.texts;
        self.keys += other.keys;
        self.found += other.found;
        self.wrong += other.wrong;
        self.own += other.own;
    }
}

/// Compares the keys behind the damage with those of the undamaged text.
///
/// Counted as found are keys that stood below the last damaged line and still have the same path: document number,
/// indices and the names of all parents. The names are those of the undamaged text: where the damage renamed a parent,
/// or took it away, all keys below it count as lost and, under their new path, as wrong. Keys on damaged lines are
/// not looked for. Wrong are all paths that the undamaged text does not have, those on damaged lines included; how
/// many stand there is in `own`.
pub fn measure(text: &str, original: &[(String, usize)], damaged: &Damaged) -> Tally {
    let paths = key_paths(&damaged.text);
    let touched = touched(text, &damaged.text);
    let on_damage: HashSet<&str> =
        paths.iter().filter(|(_, at)| touched.contains(at)).map(|(p, _)| p.as_str()).collect();
    let now: HashSet<&str> = paths.iter().map(|(p, _)| p.as_str()).collect();
    let before: HashSet<&str> = original.iter().map(|(p, _)| p.as_str()).collect();
    let behind: Vec<&str> = original.iter().filter(|(_, at)| *at > damaged.end).map(|(p, _)| p.as_str()).collect();
    Tally {
        texts: 1,
        keys: behind.len(),
        found: behind.iter().filter(|p| now.contains(**p)).count(),
        wrong: now.iter().filter(|p| !before.contains(**p)).count(),
        own: on_damage.iter().filter(|p| !before.contains(**p)).count(),
    }
}

/// The lines of `after` from the first to the last byte that differs.
fn touched(before: &str, after: &str) -> std::ops::RangeInclusive<usize> {
    let (a, b) = (before.as_bytes(), after.as_bytes());
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let start = b[..head].iter().rposition(|c| *c == b'\n').map_or(0, |i| i + 1);
    let last = (b.len() - tail).max(head);
    // Damage that ends with its line does not reach the next one.
    let last = if last > head && b[last - 1] == b'\n' { last - 1 } else { last };
    let end = b[last..].iter().position(|c| *c == b'\n').map_or(b.len(), |i| last + i);
    start..=end
}

/// Damages a well-formed text `rounds` times in each way and measures the texts that yaml-rust2 rejects. `show` gets
/// every damaged text with its result.
pub fn run(
    text: &str,
    rounds: usize,
    seed: u64,
    mut show: impl FnMut(&Damaged, &Tally),
) -> BTreeMap<&'static str, Tally> {
    let mut sums: BTreeMap<&'static str, Tally> = BTreeMap::new();
    if text.trim().is_empty() {
        return sums;
    }
    let original = key_paths(text);
    let mut random = Random::new(seed);
    for kind in 0..4 {
        for _ in 0..rounds {
            let damaged = damage(text, kind, &mut random);
            if super::strict_events(&damaged.text).is_ok() {
                continue;
            }
            let tally = measure(text, &original, &damaged);
            show(&damaged, &tally);
            sums.entry(damaged.kind).or_default().add(&tally);
        }
    }
    sums
}
