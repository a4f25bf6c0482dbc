//! `spec.resources`: models, tool groups and shields that are registered when the server starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to register when the server starts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Models that clients can ask for by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub models: Option<Vec<Model>>,
    /// Tool groups to register: `websearch` means `builtin::websearch`; names with `::` are taken as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), inner(length(min = 1, max = 128)))]
    pub tools: Option<Vec<String>>,
    /// Shields to register, by the id that the safety provider knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), inner(length(min = 1, max = 128)))]
    pub shields: Option<Vec<String>>,
}

/// A model that is registered when the server starts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The model's name, as the provider knows it and as clients ask for it.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Id of the inference provider that serves it. Left out, the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub provider: Option<String>,
    /// Length of the context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub context_length: Option<i64>,
    /// What the model does: `llm` (the default), `embedding`, `rerank`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub model_type: Option<String>,
    /// How the weights are quantized, such as `fp8`. For information only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub quantization: Option<String>,
}
