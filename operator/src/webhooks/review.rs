//! An admission review: a request with a `uid` in an envelope, answered in the same envelope.
//!
//! Objects stay plain values: a typed reading would drop what it does not know.

use crate::extent::{Extent, VALUES};
use serde_json::{Map, Value, json};

/// Why there is no request to answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadReview {
    #[error("the body is not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    #[error("the review has more than {VALUES} values")]
    Values,
    #[error("expected a {expected} with a request, found kind {found:?}")]
    NoRequest { expected: &'static str, found: String },
}

/// The request of a review.
pub(crate) struct Review {
    envelope: Map<String, Value>,
    pub(crate) request: Map<String, Value>,
}

impl Review {
    /// Reads a review of the given kind, if it can be held in memory.
    pub(crate) fn read(body: &[u8], kind: &'static str) -> Result<Self, BadReview> {
        if Extent::of(body).values > VALUES {
            return Err(BadReview::Values);
        }
        let mut review: Value = serde_json::from_slice(body)?;
        let found = review["kind"].as_str().unwrap_or_default().to_owned();
        let request = review.get_mut("request").map(Value::take);
        match request {
            Some(Value::Object(request)) if found == kind => {
                let mut envelope = Map::new();
                for field in ["apiVersion", "kind"] {
                    envelope.insert(field.to_owned(), review[field].take());
                }
                Ok(Self { envelope, request })
            }
            _ => Err(BadReview::NoRequest { expected: kind, found }),
        }
    }

    /// A text of the request, empty where there is none.
    pub(crate) fn text(&self, pointer: [&str; 2]) -> &str {
        let value = self.request.get(pointer[0]);
        let value = if pointer[1].is_empty() { value } else { value.and_then(|value| value.get(pointer[1])) };
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// The review with `response`, which gets the request's `uid`.
    pub(crate) fn answer(mut self, mut response: Value) -> Value {
        response["uid"] = self.request.remove("uid").unwrap_or_else(|| json!(""));
        self.envelope.insert("response".to_owned(), response);
        Value::Object(self.envelope)
    }
}
