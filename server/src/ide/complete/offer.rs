//! One offer before it is tied to a place in the text.

use super::flow;
use crate::ide::Span;
use crate::ide::types::{CompletionItem, CompletionKind, TextEdit};

/// Something that could be written.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) label: String,
    pub(super) kind: CompletionKind,
    pub(super) detail: String,
    pub(super) documentation: String,
    /// Lines of a snippet, relative to the place.
    pub(super) body: Vec<String>,
    /// A longer name of the same thing, for those who begin to write that.
    pub(super) long: Option<String>,
    /// What to insert where the key is there already and only its name changes.
    pub(super) bare: Option<String>,
    /// The list shows a dash in front of the label. It takes no part in filtering, because nobody types it.
    dashed: bool,
}

/// The place at which offers are written, and what follows it there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// The bytes that an offer replaces.
    pub(super) span: Span,
    /// Columns to add to all lines but the first.
    pub(super) lead: usize,
    /// Whether the place is between brackets, where offers are written in flow style.
    pub(super) flow: bool,
    /// What stands behind the place on its line.
    pub(super) behind: Behind,
}

/// What stands behind the place, as far as an offer depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behind {
    /// Nothing that changes what has to be written.
    Nothing,
    /// The colon of the key.
    Colon,
    /// Lines farther in, which belong to the key that is written.
    Lines,
    /// On the same line, the next entry between brackets.
    Entry,
    /// On a line below, the next entry between brackets.
    EntryBelow,
}

impl Offer {
    /// Plain text that replaces what was typed.
    pub(super) fn value(label: impl Into<String>, kind: CompletionKind) -> Self {
        let label = label.into();
        Self {
            body: vec![escape(&llsd_yaml::edit::quote_scalar(&label))],
            label,
            kind,
            detail: String::new(),
            documentation: String::new(),
            long: None,
            bare: None,
            dashed: false,
        }
    }

    /// A key with the skeleton of its value.
    pub(super) fn key(name: &str, body: Vec<String>) -> Self {
        Self {
            label: name.to_owned(),
            kind: CompletionKind::Field,
            detail: String::new(),
            documentation: String::new(),
            body,
            long: None,
            bare: Some(llsd_yaml::edit::quote_scalar(name).into_owned()),
            dashed: false,
        }
    }

    /// Takes the longer name where only that begins as was typed.
    pub(super) fn spell_out(&mut self, typed: &str) {
        let begins = |name: &str| super::starts_with(name, typed);
        if begins(&self.label) {
            return;
        }
        if let Some(long) = self.long.take().filter(|long| begins(long)) {
            self.body = vec![escape(&llsd_yaml::edit::quote_scalar(&long))];
            self.label = long;
        }
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    pub(super) fn documentation(mut self, documentation: impl Into<String>) -> Self {
        self.documentation = documentation.into();
        self
    }

    /// The offer as an item of a list that has no dash yet.
    pub(super) fn behind_dash(mut self) -> Self {
        for (number, line) in self.body.iter_mut().enumerate() {
            line.insert_str(0, if number == 0 { "- " } else { "  " });
        }
        self.dashed = true;
        self
    }

    /// Makes the item that a client gets; `order` is its rank in the list.
    pub(super) fn item(self, placed: Placed, order: usize) -> CompletionItem {
        let (new_text, snippet) = match (self.bare, placed.behind) {
            (Some(bare), Behind::Colon) => (bare, false),
            (Some(bare), Behind::Lines) if !self.dashed => (format!("{bare}:"), false),
            _ => {
                let mut text = match placed.flow {
                    true => flow::line(&self.body),
                    false => self.body.join(&format!("\n{}", " ".repeat(placed.lead))),
                };
                match placed.behind {
                    Behind::Entry => text.push_str(", "),
                    Behind::EntryBelow => text.push(','),
                    _ => {}
                }
                match unescape(&text) {
                    Some(plain) => (plain, false),
                    None => (text, true),
                }
            }
        };
        CompletionItem {
            filter: self.label.clone(),
            label: if self.dashed { format!("- {}", self.label) } else { self.label },
            kind: self.kind,
            detail: self.detail,
            documentation: self.documentation,
            insert: TextEdit { span: placed.span, new_text },
            snippet,
            sort: u32::try_from(order).unwrap_or(u32::MAX),
        }
    }
}

/// Text as a snippet that inserts just this text.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '$' | '}') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// The text of a snippet without places to fill in; `None` if it has any.
fn unescape(snippet: &str) -> Option<String> {
    let mut out = String::with_capacity(snippet.len());
    let mut characters = snippet.chars();
    while let Some(character) = characters.next() {
        match character {
            '$' => return None,
            '\\' => out.extend(characters.next()),
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_escaping() {
        let text = "${env.X:=a}\\";
        assert_eq!(unescape(&escape(text)).as_deref(), Some(text));
        assert_eq!(unescape("a: $1"), None);
    }
}
