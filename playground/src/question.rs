//! What the page may ask.

use serde::Deserialize;

/// A question about a text. Positions are counted in UTF-16.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    /// The whole text, as YAML.
    #[serde(default)]
    pub(crate) text: String,
    /// The version of the server where nothing in the text tells one.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// What is asked about it.
    #[serde(flatten)]
    pub(crate) ask: Ask,
}

/// The kinds of questions, by the name in `ask`.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
pub(crate) enum Ask {
    /// Which versions there are; the text does not matter.
    About,
    /// What is wrong with the text, and which resources it has.
    Check,
    /// The config generated for the resource at a place.
    Preview { at: usize },
    /// What could be written at a place.
    Complete { at: usize },
    /// What the text at a place means.
    Hover { at: usize },
    /// Changes offered for a range.
    Actions { from: usize, to: usize },
    /// The edits that mend all that has one obvious fix.
    Fix,
    /// The edits that format the text.
    Format,
    /// The text rewritten: for `v1alpha2`, `ogx@VERSION`, or `config@VERSION` for the configs of the server in it.
    Migrate { to: String },
}
