//! What the language server says about a text, for a page in the browser: questions and answers in JSON, and nothing
//! that needs an operating system.
//!
//! Built for `wasm32-unknown-unknown`, `exports` is all that the page sees of it. Every question brings the text it is about,
//! so that an answer never depends on what was asked before; the last analysis is only kept because the next text is
//! mostly the same but for a letter.

mod answers;
mod exports;
mod migrate;
mod offsets;
mod question;

use llsd::ide::{self, Analysis, Workspace};
use llsd_generator::catalog::Catalog;
use offsets::Offsets;
use question::{Ask, Question};
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes of a text at most. Resources have a few thousand; the limit is what is still answered within a second.
const TEXT: usize = 1 << 20;

/// Answers questions, one after the other.
#[derive(Debug, Default)]
pub struct Engine {
    /// Of the text that was asked about last.
    last: Option<Analysis>,
}

impl Engine {
    /// The answer to a question, both JSON: `{"ok": …}`, or `{"error": "what is wrong with the question"}`. Positions are
    /// counted in UTF-16, as JavaScript counts.
    pub fn answer(&mut self, question: &str) -> String {
        let answer = serde_json::from_str(question)
            .map_err(|error| format!("the question is not understood: {error}"))
            .and_then(|question| self.ask(question));
        match answer {
            Ok(value) => json!({ "ok": value }).to_string(),
            Err(message) => json!({ "error": message }).to_string(),
        }
    }

    fn ask(&mut self, Question { text, version, ask }: Question) -> Result<Value, String> {
        if text.len() > TEXT {
            return Err(format!("the text is longer than {TEXT} bytes"));
        }
        let known = |version: &String| Catalog::versions().contains(version);
        if let Some(unknown) = version.as_ref().filter(|version| !known(version)) {
            return Err(format!("version {unknown} is not known; there are {}", Catalog::versions().join(", ")));
        }
        let offsets = Offsets::new(&text);
        let workspace = Workspace::new().assuming(version.as_deref());
        let analysis = self.analysis(text.into(), &workspace);
        Ok(match ask {
            Ask::About => answers::about(),
            Ask::Check => answers::check(analysis, &offsets),
            Ask::Preview { at } => answers::preview(analysis, &offsets, offsets.byte(at)),
            Ask::Complete { at } => {
                let offers = ide::complete(analysis, offsets.byte(at));
                offers.iter().map(|offer| answers::offer(offer, &offsets)).collect()
            }
            Ask::Hover { at } => {
                ide::hover(analysis, offsets.byte(at)).map_or(Value::Null, |hover| answers::hover(&hover, &offsets))
            }
            Ask::Actions { from, to } => {
                let span = ide::Span::new(offsets.byte(from.min(to)), offsets.byte(from.max(to)));
                let actions = ide::code_actions(analysis, span);
                actions.iter().map(|action| answers::action(action, &offsets)).collect()
            }
            Ask::Fix => answers::edits(&ide::fix_everything(analysis), &offsets),
            Ask::Format => answers::edits(&ide::format(analysis, None, &ide::FormatOptions::default()), &offsets),
            Ask::Migrate { to } => migrate::migrate(analysis, &workspace, &to)?,
        })
    }

    fn analysis(&mut self, text: Arc<str>, workspace: &Workspace) -> &Analysis {
        let analysis = ide::analyse(text, self.last.as_ref(), workspace);
        self.last.insert(analysis)
    }
}

#[cfg(test)]
mod tests;
