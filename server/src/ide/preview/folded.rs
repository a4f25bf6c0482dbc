//! A preview that shows what the resource brings, and of the distribution's config only how much there is.

use super::super::types::{LineOrigin, OriginKind, Preview};

/// The preview with each run of lines that the distribution's config brings folded into a comment. The keys above what
/// stays do stay, so that everybody sees where it is.
pub(crate) fn folded(preview: Preview) -> Preview {
    let lines: Vec<&str> = preview.text.lines().collect();
    let mut kept: Vec<bool> = preview.lines.iter().map(|origin| origin.kind != OriginKind::Base).collect();
    kept.resize(lines.len(), true);
    keep_parents(&lines, &mut kept);
    let (mut text, mut origins) = (String::new(), Vec::new());
    let mut number = 0;
    while number < lines.len() {
        if kept[number] {
            text.push_str(lines[number]);
            text.push('\n');
            origins.extend(preview.lines.get(number).cloned());
            number += 1;
            continue;
        }
        let end = (number..lines.len()).find(|next| kept[*next]).unwrap_or(lines.len());
        let count = end - number;
        let plural = if count == 1 { "line" } else { "lines" };
        text.push_str(&format!("{:1$}# … {count} {plural} of the distribution\n", "", indentation(lines[number])));
        let path = preview.lines[number].path.clone();
        origins.push(LineOrigin { kind: OriginKind::Base, path, source_span: None });
        number = end;
    }
    Preview { text, lines: origins, ..preview }
}

/// Marks the lines that hold what stays.
fn keep_parents(lines: &[&str], kept: &mut [bool]) {
    let mut above: Vec<(usize, usize)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let level = level(line);
        while above.last().is_some_and(|(other, _)| *other >= level) {
            above.pop();
        }
        if kept[number] {
            for (_, parent) in above.iter().rev() {
                if std::mem::replace(&mut kept[*parent], true) {
                    break;
                }
            }
        }
        above.push((level, number));
    }
}

/// How deep a line is. An item stands deeper than the key of its list, though in the same column.
fn level(line: &str) -> usize {
    let spaces = indentation(line);
    2 * spaces + usize::from(line[spaces..].starts_with("- "))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_resource_brings_stays_with_the_keys_above() {
        let text = "version: 2\napis:\n- inference\n- safety\nproviders:\n  inference:\n  - provider_id: a\n    config:\n      \
                    url: x\n  - provider_id: b\n    config: {}\nserver:\n  port: 1\n";
        let origin = |own: bool| LineOrigin {
            kind: if own { OriginKind::Resource } else { OriginKind::Base },
            path: "1".to_owned(),
            source_span: None,
        };
        let lines: Vec<LineOrigin> =
            text.lines().map(|line| origin(line.contains("url") || line.contains("port"))).collect();
        let preview = folded(Preview { text: text.to_owned(), lines, ..Preview::default() });
        let expected = "# … 4 lines of the distribution\nproviders:\n  inference:\n  - provider_id: a\n    config:\n      url: x\n  # … 2 lines of \
                        the distribution\nserver:\n  port: 1\n";
        assert_eq!(preview.text, expected);
        assert_eq!(preview.lines.len(), expected.lines().count());
    }
}
