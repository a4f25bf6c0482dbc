//! One offer before it is tied to a place in the text.

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

    /// The finished item. `lead`: columns to add to all lines but the first; `keyed`: a colon stands behind already.
    pub(super) fn item(self, span: Span, lead: usize, keyed: bool, order: usize) -> CompletionItem {
        let (new_text, snippet) = match self.bare {
            Some(bare) if keyed => (bare, false),
            _ => {
                let text = self.body.join(&format!("\n{}", " ".repeat(lead)));
                match unescape(&text) {
                    Some(plain) => (plain, false),
                    None => (text, true),
                }
            }
        };
        CompletionItem {
            filter: self.label.clone(),
            label: self.label,
            kind: self.kind,
            detail: self.detail,
            documentation: self.documentation,
            insert: TextEdit { span, new_text },
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
