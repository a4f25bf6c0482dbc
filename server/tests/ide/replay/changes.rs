//! What a person does to a finished file: words and lines written anew, joined, moved and commented out, and texts
//! pasted into it.

use super::{Gap, line_end, line_start};
use llsd_yaml::{Stream, Style};

/// A key or value that is written anew.
pub(crate) struct Word {
    /// Where it begins, inside quotes, and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) is_key: bool,
    pub(crate) is_quoted: bool,
}

/// All keys and plain or quoted values of one line.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for located in Stream::parse(text).documents() {
        let scalars = located.document.nodes().filter(|node| node.is_scalar() && !node.is_absent());
        for node in scalars {
            let span = node.span().shift(located.offset);
            let quotes = match node.style() {
                Style::Plain => 0,
                Style::SingleQuoted | Style::DoubleQuoted => 1,
                _ => continue,
            };
            if !span.slice(text).contains('\n') && span.len() > 2 * quotes {
                found.push(Word {
                    start: span.start + quotes,
                    end: span.end - quotes,
                    is_key: node.is_key(),
                    is_quoted: quotes > 0,
                });
            }
        }
    }
    found
}

/// A line with everything that is indented deeper below it.
pub(crate) struct Block {
    /// From the start of its first line to the start of the line behind it.
    pub(crate) start: usize,
    pub(crate) end: usize,
    indent: usize,
}

/// The blocks that begin at the lines of the text.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let lines: Vec<(usize, &str)> = lines(text).collect();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut found = Vec::new();
    for (number, (start, line)) in lines.iter().enumerate() {
        if line.trim().is_empty() || line.starts_with("---") || line.starts_with("...") {
            continue;
        }
        let own = indent(line);
        let behind = lines[number + 1..].iter().find(|(_, line)| line.trim().is_empty() || indent(line) <= own);
        found.push(Block { start: *start, end: behind.map_or(text.len(), |(at, _)| *at), indent: own });
    }
    found
}

/// The lines with their offsets, line ends included.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

impl Block {
    /// Its text, moved by so many columns.
    pub(crate) fn moved(&self, text: &str, columns: isize) -> String {
        let lines = text[self.start..self.end].split_inclusive('\n').map(|line| match columns {
            0.. => format!("{}{line}", " ".repeat(columns.unsigned_abs())),
            _ => {
                let room = line.len() - line.trim_start_matches(' ').len();
                line[room.min(columns.unsigned_abs())..].to_owned()
            }
        });
        lines.collect()
    }

    /// Its text with `#` before each line.
    pub(crate) fn commented(&self, text: &str) -> String {
        text[self.start..self.end].split_inclusive('\n').map(|line| format!("# {line}")).collect()
    }

    /// Where it could be moved to: one level in, one level out, and half a level by mistake.
    pub(crate) fn shifts(&self) -> impl Iterator<Item = isize> {
        let room = isize::try_from(self.indent).unwrap_or(isize::MAX);
        [2, 1, -1, -2].into_iter().filter(move |columns| room + columns >= 0)
    }
}

/// The line that begins at `at` and the next one as one line; with a space between them, and without.
pub(crate) fn joined(text: &str, at: usize) -> Option<[Gap<'static>; 2]> {
    let start = line_end(text, at);
    let next = text.get(start + 1..).filter(|rest| !rest.is_empty())?;
    let end = start + 1 + (next.len() - next.trim_start_matches(' ').len());
    let comment = text[line_start(text, at)..start].contains('#');
    (!comment).then_some([Gap { start, end, typed: " " }, Gap { start, end, typed: "" }])
}

/// Texts that come out of other windows.
pub(crate) const PASTED: [(&str, &str); 8] = [
    (
        "a resource with a marker",
        "---\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: pasted\nspec:\n  \
         distribution:\n    name: starter\n---\n",
    ),
    (
        "a resource without a marker",
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: pasted\nspec:\n  \
         distribution:\n    name: starter\n",
    ),
    ("a Secret", "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: pasted\nstringData:\n  key: value\n---\n"),
    (
        "part of a config",
        "providers:\n  inference:\n    - provider_id: vllm\n      provider_type: remote::vllm\n      config:\n        \
         base_url: ${env.VLLM_URL}\n",
    ),
    ("a provider", "      - id: pasted\n        provider: ollama\n        endpoint: http://ollama:11434/v1\n"),
    ("prose", "Deploy it as follows: first, the secret (see above) - then the rest!\n\"Ready\" means {ready}.\n"),
    ("a command", "$ kubectl apply -f - <<'EOF' && echo \"done: $?\" | tee `date`.log\n"),
    ("JSON", "{\n  \"name\": \"pasted\",\n  \"items\": [1, 2, {\"a\": null}]\n}\n"),
];
