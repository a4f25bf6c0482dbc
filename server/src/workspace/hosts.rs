//! Manifests inside of other texts: shell scripts, which hand them to a command as here-documents, and Markdown, which
//! shows them in code blocks.
//!
//! Such a text is looked at with everything else turned into comments of the same length, so that every place in it stays
//! where it is. An edit of one is an edit of the other.

use std::path::Path;

/// A kind of text that may hold manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// A shell script, in which here-documents hold manifests.
    Shell,
    /// A page in Markdown, in which code blocks hold manifests.
    Markdown,
}

impl Host {
    /// The kind of a file, by its name; `None` for all that is read as it is.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "sh" | "bash" => Some(Self::Shell),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// The manifests of a text, each a document, and comments in place of the rest. As long as the text in bytes, with
    /// the same line breaks.
    #[must_use]
    pub fn manifests(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        match self {
            Self::Shell => shell(text, &mut out),
            Self::Markdown => markdown(text, &mut out),
        }
        out
    }
}

/// Writes a line that is no part of a manifest: a comment, or the start of a document.
fn instead(line: &str, starts_document: bool, out: &mut String) {
    let content = line.trim_end_matches(['\n', '\r']);
    let sign = if starts_document && content.len() >= 3 { "---" } else { "#" };
    if !content.is_empty() {
        out.push_str(sign);
        out.extend(std::iter::repeat_n(' ', content.len() - sign.len()));
    }
    out.push_str(&line[content.len()..]);
}

/// A here-document that is being read.
struct Here<'t> {
    end: &'t str,
    /// Whether tabs in front of its lines do not count: `<<-`.
    strips_tabs: bool,
}

fn shell(text: &str, out: &mut String) {
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(here) = here_document(line) else {
            instead(line, false, out);
            continue;
        };
        let ends = |line: &str| {
            let line = line.trim_end_matches(['\n', '\r']);
            (if here.strips_tabs { line.trim_start_matches('\t') } else { line }) == here.end
        };
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(|line| !ends(line)) {
            body.push(line);
        }
        let is_manifest = body.iter().any(|line| {
            let line = line.trim_start();
            line.starts_with("apiVersion") || line.contains("provider_type")
        });
        instead(line, is_manifest, out);
        for line in body {
            match (is_manifest, here.strips_tabs) {
                (false, _) => instead(line, false, out),
                (true, false) => out.push_str(line),
                (true, true) => {
                    let inside = line.trim_start_matches('\t');
                    out.extend(std::iter::repeat_n(' ', line.len() - inside.len()));
                    out.push_str(inside);
                }
            }
        }
    }
}

/// Whether a comment begins in the start of a line: at a `#` behind a blank, where no quote is open.
fn ends_in_comment(start: &str) -> bool {
    let is_closed = |text: &str| ['\'', '"'].iter().all(|quote| text.matches(*quote).count().is_multiple_of(2));
    start.match_indices(" #").any(|(at, _)| is_closed(&start[..at]))
}

/// The here-document that begins behind a line.
fn here_document(line: &str) -> Option<Here<'_>> {
    if line.trim_start().starts_with('#') {
        return None;
    }
    let (before, rest) = line.split_once("<<")?;
    // `<<<` hands over a word, and `1 << 2` is arithmetic.
    if rest.starts_with('<') || before.ends_with("((") || ends_in_comment(before) {
        return None;
    }
    let (strips_tabs, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let rest = rest.trim_start_matches([' ', '\t']);
    let end = match rest.chars().next()? {
        quote @ ('\'' | '"') => rest[1..].split(quote).next()?,
        _ => {
            let rest = rest.strip_prefix('\\').unwrap_or(rest);
            let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
            &rest[..rest.find(|char| !is_word(char)).unwrap_or(rest.len())]
        }
    };
    let is_name = end.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    is_name.then_some(Here { end, strips_tabs })
}

fn markdown(text: &str, out: &mut String) {
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some((fence, language)) = fence(line) else {
            instead(line, false, out);
            continue;
        };
        let ends = |line: &str| {
            let line = line.trim();
            line.len() >= fence.len() && line.starts_with(fence) && line.chars().all(|char| fence.starts_with(char))
        };
        let is_yaml = matches!(language, "yaml" | "yml");
        instead(line, is_yaml, out);
        let mut body = String::new();
        while let Some(line) = lines.next_if(|line| !ends(line)) {
            body.push_str(line);
        }
        match language {
            _ if is_yaml => out.push_str(&body),
            "sh" | "bash" | "shell" | "console" => shell(&body, out),
            _ => body.split_inclusive('\n').for_each(|line| instead(line, false, out)),
        }
        if let Some(line) = lines.next() {
            instead(line, false, out);
        }
    }
}

/// The signs and the language of a line that begins a code block.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let sign = line.chars().next().filter(|char| matches!(char, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let fence = &line[..line.len() - rest.len()];
    let language = rest.trim().split([' ', '{', ',']).next().unwrap_or_default();
    (fence.len() >= 3 && !rest.contains('`')).then_some((fence, language))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn check(host: Host, text: &str, kept: &[&str]) {
        let manifests = host.manifests(text);
        assert_eq!(manifests.len(), text.len(), "{manifests}");
        assert_eq!(manifests.matches('\n').count(), text.matches('\n').count());
        let lines: Vec<&str> = manifests.lines().map(str::trim_end).filter(|line| !matches!(*line, "" | "#")).collect();
        assert_eq!(lines, kept);
        for line in kept.iter().filter(|line| **line != "---") {
            assert_eq!(manifests.find(line).unwrap(), text.find(line).unwrap(), "{line}");
        }
    }

    #[test]
    fn here_documents_of_manifests_are_kept() {
        let script = "#!/bin/sh\nset -e # << no\ncat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: ConfigMap\nEOF\nümlaut=$((1 << 2))\n\
            python <<PY\nimport os\nPY\necho <<<word\nkubectl apply -f - <<'END OF'\napiVersion: v2\nEND OF\n";
        check(Host::Shell, script, &["---", "apiVersion: v1", "kind: ConfigMap", "---", "apiVersion: v2"]);
        let with_tabs = Host::Shell.manifests("cat <<-X\n\tapiVersion: v1\n\t\tkind: A\n\tX\n");
        assert_eq!(with_tabs, "---     \n apiVersion: v1\n  kind: A\n# \n");
    }

    #[test]
    fn code_blocks_of_yaml_are_kept() {
        let page = "# Title\n\nText: `a`\n\n1. ~~~yml\n   no list\n```yaml title=\"x\"\nkind: A\n```\n   ````bash\n   kubectl apply -f - <<EOF\napiVersion: v2\nEOF\n   ````\n```\nkind: B\n```\n";
        check(Host::Markdown, page, &["---", "kind: A", "---", "apiVersion: v2"]);
    }

    #[test]
    fn a_text_without_an_end_is_read_to_the_last_line() {
        check(Host::Shell, "cat <<EOF\napiVersion: v1", &["---", "apiVersion: v1"]);
        check(Host::Markdown, "```yaml\na: 1", &["---", "a: 1"]);
    }
}
