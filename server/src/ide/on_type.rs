//! The indentation of a line that was just begun.
//!
//! Editors indent by themselves: they copy the line above, and some go deeper behind a colon. What an editor did is
//! changed only where it leaves the cursor at a column that continues nothing.

use super::format::FormatOptions;
use super::types::TextEdit;
use super::{Analysis, Span};
use llsd_yaml::{Document, Style};

/// The blanks of the empty line at `offset`, if they should be others.
pub(crate) fn indent(analysis: &Analysis, offset: usize, options: &FormatOptions) -> Option<TextEdit> {
    if !analysis.is_relevant() {
        return None;
    }
    let (located, inside) = analysis.at(offset)?;
    let document = located.document.tree();
    let text = document.text();
    let start = text[..inside].rfind('\n')? + 1;
    let end = text[inside..].find(['\n', '\r']).map_or(text.len(), |at| inside + at);
    let blanks = &text[start..end];
    if !blanks.trim_matches([' ', '\t']).is_empty() {
        return None;
    }
    let above = &text[..start - 1];
    let above = above.strip_suffix('\r').unwrap_or(above);
    let line = above.rfind('\n').map_or(0, |at| at + 1);
    let wanted = wanted(document, line, &above[line..], options.indent.clamp(2, 8))?;
    // tabs are no indentation
    let now = if blanks.contains('\t') { None } else { Some(blanks.len()) };
    if now.is_some_and(|now| now == wanted.column || now > wanted.above) {
        return None;
    }
    let span = Span::new(start, end).shift(located.offset);
    Some(TextEdit { span, new_text: " ".repeat(wanted.column) })
}

struct Wanted {
    /// Where the new line belongs.
    column: usize,
    /// The last column at which it would continue nothing that the line above began.
    above: usize,
}

/// `line` is where the line above starts.
fn wanted(document: &Document, line: usize, above: &str, step: usize) -> Option<Wanted> {
    let code =
        match document.comments().iter().find(|comment| (line..=line + above.len()).contains(&comment.span.start)) {
            Some(comment) => &above[..comment.span.start - line],
            None => above,
        }
        .trim_end();
    if code.trim().is_empty()
        || is_inside_text(document, line + code.len() - code.trim_start().len(), line + code.len())
    {
        return None;
    }
    let mut column = code.len() - code.trim_start_matches(' ').len();
    let mut dash = None;
    let mut rest = &code[column..];
    while let Some(inside) = rest.strip_prefix('-').filter(|inside| inside.is_empty() || inside.starts_with(' ')) {
        dash = Some(column);
        let trimmed = inside.trim_start_matches(' ');
        column += (rest.len() - trimmed.len()).max(2);
        rest = trimmed;
    }
    let behind_key = rest.ends_with(':') || is_header(rest);
    match (rest.is_empty(), behind_key, dash) {
        // a dash alone: its item comes
        (true, _, Some(dash)) => Some(Wanted { column, above: dash }),
        // a text below a dash stands where a mapping would
        (_, true, Some(dash)) if is_header(rest) && !rest.contains(": ") => Some(Wanted { column, above: dash }),
        (_, true, _) => Some(Wanted { column: column + step, above: column }),
        // `- name: x`: more fields of the item, unless the cursor is further left already
        (_, _, Some(dash)) if is_entry(rest) => Some(Wanted { column, above: column - 1 }).filter(|_| dash < column),
        _ => None,
    }
}

/// Whether the line is part of a text of several lines, where blanks are the writer's business. A header is not yet.
fn is_inside_text(document: &Document, first: usize, end: usize) -> bool {
    document.node_at(end).or_else(|| document.node_at(first)).is_some_and(|node| {
        let is_text = !matches!(node.style(), Style::Plain | Style::Absent);
        let begins_above = node.span().start < first;
        (is_text && (begins_above || node.is_unclosed())) || (node.is_flow() && node.is_unclosed())
    })
}

/// Whether the line ends with the header of a block scalar.
fn is_header(code: &str) -> bool {
    let last = code.rsplit(' ').next().unwrap_or_default();
    let rest = last.strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.len() <= 2 && rest.chars().all(|sign| matches!(sign, '+' | '-' | '1'..='9')))
}

/// Whether the line is an entry of a mapping: a key with its value.
fn is_entry(code: &str) -> bool {
    code.contains(": ") && !code.starts_with(['{', '[', '"', '\''])
}
