//! Which backends a resource speaks of by name: in a provider's own id, address and Secret, in ids that models refer
//! to, in its name and labels.

use llsd_generator::path::Path;
use serde_json::Value;

/// References and labels that are looked at: real resources have a few, and completion must not wait for the rest.
const MOST: usize = 64;
/// How deep texts are looked for inside a provider: settings that name something lie no deeper.
const DEPTH: usize = 4;

/// Other words for provider types.
#[rustfmt::skip]
const ALSO: &[(&str, &str)] = &[
    ("bedrock", "aws"), ("chromadb", "chroma"), ("model-context-protocol", "mcp"), ("pgvector", "postgres"),
    ("rag-runtime", "rag"), ("sentence-transformers", "embedding"), ("vertexai", "vertex"),
];

/// The texts to look into.
pub(super) struct Mentions {
    /// Names that the provider itself mentions, which are offered before those of others.
    own: Vec<String>,
    /// Of what refers to a provider by its id.
    referring: Vec<String>,
    /// Of the resource as a whole.
    whole: Vec<String>,
}

impl Mentions {
    /// Around the type at `path` of a provider of `api`.
    pub(super) fn around(object: &Value, api: &str, path: &Path) -> Self {
        let mut own = Vec::new();
        if let Some(Value::Object(fields)) = path.parent().and_then(|item| item.find(object)) {
            fields.iter().filter(|(name, _)| *name != "provider").for_each(|(_, field)| texts(field, DEPTH, &mut own));
        }
        let strings = |path: &str| {
            let found = Path::parse(path).find(object).and_then(Value::as_array);
            found.into_iter().flatten().take(MOST)
        };
        let referring = match api {
            "inference" => strings("spec.resources.models").filter_map(|model| model.get("provider")).collect(),
            "safety" => strings("spec.resources.shields").collect(),
            _ => Vec::new(),
        };
        let referring = referring.into_iter().filter_map(Value::as_str).map(str::to_lowercase).collect();
        let mut whole = Vec::new();
        for field in ["name", "labels"] {
            let found = object.get("metadata").and_then(|metadata| metadata.get(field));
            found.into_iter().for_each(|found| texts(found, 1, &mut whole));
        }
        Self { own, referring, whole }
    }

    /// Smaller comes first. A type that the list has already is meant by what speaks of the whole, and is not meant
    /// again.
    pub(super) fn rank(&self, provider_type: &str, used: bool) -> u8 {
        let places = [(&self.own, true), (&self.referring, !used), (&self.whole, !used)];
        let found = places.iter().position(|(texts, counts)| *counts && speak_of(texts, provider_type));
        found.unwrap_or(places.len()) as u8
    }

    /// Whether the provider itself speaks of the type.
    pub(super) fn is_own(&self, provider_type: &str) -> bool {
        speak_of(&self.own, provider_type)
    }
}

fn texts(value: &Value, depth: usize, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.to_lowercase()),
        Value::Object(fields) if depth > 0 => {
            fields.values().take(MOST).for_each(|field| texts(field, depth - 1, out));
        }
        _ => {}
    }
}

fn speak_of(texts: &[String], provider_type: &str) -> bool {
    let bare = provider_type.rsplit("::").next().unwrap_or(provider_type);
    let also = ALSO.iter().filter(|(name, _)| *name == bare).map(|(_, also)| *also);
    [bare].into_iter().chain(also).any(|word| texts.iter().any(|text| has_word(text, word)))
}

/// Whether the text holds the word, with nothing of a word around it.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_whole() {
        assert!(has_word("rag-qdrant", "qdrant"));
        assert!(has_word("http://vllm2:8000", "vllm"));
        assert!(!has_word("storage", "rag"));
        assert!(!has_word("openais", "openai"));
    }

    #[test]
    fn what_is_nearer_counts_more() {
        let object = json!({"metadata": {"name": "groq-and-vllm"}, "spec": {
            "providers": {"inference": [{"id": "azure-eu", "provider": ""}]},
            "resources": {"models": [{"name": "a", "provider": "vllm"}]}}});
        let found = Mentions::around(&object, "inference", &Path::parse("spec.providers.inference[0].provider"));
        let ranks = ["azure", "vllm", "groq", "openai"].map(|name| found.rank(name, false));
        assert_eq!(ranks, [0, 1, 2, 3]);
        assert_eq!(found.rank("groq", true), 3);
    }
}
