//! Providers from images, put into a finished configuration. Type and module of such a provider are known inside its
//! image alone, so this runs in the pod, after everything else.

use super::base::parse;
use super::draft::plain_id;
use super::error::GenerateError;
use super::origin::Origin;
use super::render::render;
use super::tracked::{Map, Tracked};
use crate::path::Path;
use serde_json::Value;

/// A provider that an image brought along.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// The API in llama-stack's spelling.
    pub api: String,
    /// The `provider_id` that the provider gets in the config.
    pub id: String,
    /// Its type, with `remote::` or `inline::`.
    pub provider_type: String,
    /// The Python module that llama-stack loads it from.
    pub module: String,
    /// The `config` of its entry, as the resource gives it.
    pub config: serde_json::Map<String, Value>,
}

/// A configuration with providers from images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The merged config as YAML, the way [`super::render`] writes it.
    pub text: String,
    /// API and id of providers that gave way to one from an image.
    pub replaced: Vec<(String, String)>,
}

/// Why there is no merged configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ConfigError {
    /// What is wrong with the configuration.
    pub message: String,
    /// The line of the fault, counted from 1.
    pub line: usize,
}

/// Adds providers to a configuration, in their order. One with the id of another of its API takes its place. The rest
/// of the configuration keeps its values and its order.
///
/// # Errors
/// If the configuration is no YAML mapping.
pub fn merge_external(config: &str, providers: &[External]) -> Result<Merged, ConfigError> {
    let mut config = parse(config).map_err(|error| match error {
        GenerateError::InvalidBase { message, line } => ConfigError { message, line },
        other => ConfigError { message: other.to_string(), line: 1 },
    })?;
    let origin = Origin::Rule("external provider");
    let mut replaced = Vec::new();
    for provider in providers {
        let text = |text: &str| Tracked::text(origin.clone(), text);
        let settings = Value::Object(provider.config.clone());
        let mut entry = Tracked::map(origin.clone());
        *entry.map_mut(&origin) = Map::from_iter([
            ("provider_id".to_owned(), text(&provider.id)),
            ("provider_type".to_owned(), text(&provider.provider_type)),
            ("module".to_owned(), text(&provider.module)),
            ("config".to_owned(), Tracked::from_json(&settings, &Path::root(), &|_| origin.clone())),
        ]);
        let list = config.child_map("providers", &origin).map_mut(&origin);
        let list = list.entry(provider.api.clone()).or_insert_with(|| Tracked::list(origin.clone())).list_mut(&origin);
        let same = |other: &Tracked| other.text_of("provider_id").map(plain_id) == Some(provider.id.as_str());
        match list.iter().position(same) {
            Some(position) => {
                list[position] = entry;
                replaced.push((provider.api.clone(), provider.id.clone()));
            }
            None => list.push(entry),
        }
        // A configuration without `apis` serves all that it has providers of.
        if config.get("apis").is_some_and(|apis| !apis.is_null()) {
            let apis =
                config.map_mut(&origin).entry("apis".to_owned()).or_insert_with(|| Tracked::list(origin.clone()));
            let apis = apis.list_mut(&origin);
            if !apis.iter().any(|api| api.as_text() == Some(&provider.api)) {
                apis.push(text(&provider.api));
            }
        }
    }
    Ok(Merged { text: render(&config).text, replaced })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn external(api: &str, id: &str) -> External {
        External {
            api: api.to_owned(),
            id: id.to_owned(),
            provider_type: "remote::mine".to_owned(),
            module: "mine_provider".to_owned(),
            config: json!({"url": "${env.MINE_URL}", "n": 1}).as_object().cloned().unwrap_or_default(),
        }
    }

    const BASE: &str = "\
version: '2'
apis: [inference]
providers:
  inference:
  - provider_id: ${env.VLLM_URL:+vllm}
    provider_type: remote::vllm
    config: {base_url: on, key: 012}
unknown: {kept: yes}
";

    #[test]
    fn new_ones_append_and_same_ones_replace() {
        let merged = merge_external(BASE, &[external("inference", "vllm"), external("safety", "guard")]).unwrap();
        assert_eq!(merged.replaced, [("inference".to_owned(), "vllm".to_owned())]);
        expect_test::expect![[r#"
            version: "2"
            apis:
            - inference
            - safety
            providers:
              inference:
              - provider_id: vllm
                provider_type: remote::mine
                module: mine_provider
                config:
                  url: ${env.MINE_URL}
                  "n": 1
              safety:
              - provider_id: guard
                provider_type: remote::mine
                module: mine_provider
                config:
                  url: ${env.MINE_URL}
                  "n": 1
            unknown:
              kept: yes
        "#]]
        .assert_eq(&merged.text);
        assert_eq!(merge_external(&merged.text, &[]).unwrap().text, merged.text);
    }

    #[test]
    fn broken_configurations_are_located() {
        let error = merge_external("version: 2\nproviders: [\n", &[]).unwrap_err();
        assert!(error.line >= 2, "{error}");
        assert!(merge_external("just text", &[]).is_err());
        assert!(merge_external("", &[external("inference", "a")]).is_err());
    }
}
