//! Inside a config of the server: keys, provider types, names, variables, and which version it is judged by.

use super::environment;
use crate::ide::config::ConfigText;
use crate::ide::document::DocumentAnalysis;
use crate::ide::types::Hover;
use crate::ide::{block, place};
use llsd_generator::catalog::{Catalog, ProviderType};
use llsd_generator::config::language::{self, Key, Language, Meaning};
use llsd_generator::config::named;
use llsd_generator::path::Path;
use serde_json::Value;

/// Settings listed at most in the hover of a provider.
const SETTINGS: usize = 20;

/// What is known of the place at an offset of the config, with its own places.
pub(super) fn hover(document: &DocumentAnalysis, config: &ConfigText, offset: usize) -> Option<Hover> {
    let node = config.tree().node_at(offset).filter(|node| node.is_scalar() && !node.is_absent())?;
    let path = place::path(&node.path());
    let languages = config.languages(document.facts());
    let (version, language) = *languages.last()?;
    let (mut parts, mut span) = (Vec::new(), node.span());
    if !node.is_key()
        && let Some((expression, words)) = environment::at(node, offset)
    {
        let text = expression.slice(config.tree().text());
        span = expression;
        parts.push(words);
        parts.extend(set_by(document, config, text));
    }
    if node.is_key()
        && let Some(known) = language.key(config.value(), &path)
    {
        parts.push(key(&known));
        parts.extend(since(config.value(), &path, &languages));
    }
    let written = node.value();
    if !node.is_key() {
        parts.extend(value(config.value(), language, version, &path, &written));
    }
    if parts.is_empty() {
        return None;
    }
    parts.push(judged(config, document));
    Some(Hover { span, markdown: parts.join("\n\n") })
}

/// Name, type, default and meaning of a key.
fn key(key: &Key) -> String {
    let mut text = format!("**{}** · {}", key.name, key.kind);
    let words = [(key.secret, "secret"), (key.required, "required"), (key.deprecated, "deprecated")];
    words.into_iter().filter(|(holds, _)| *holds).for_each(|(_, word)| text.push_str(&format!(", {word}")));
    if let Some(default) = &key.default {
        text.push_str(&format!(", default `{}`", block::inline(default)));
    }
    if !key.description.is_empty() {
        text.push_str(&format!("\n\n{}", key.description));
    }
    if !key.values.is_empty() {
        let list: Vec<_> = key.values.iter().map(|value| format!("`{}`", block::inline(value))).collect();
        text.push_str(&format!("\n\nOne of {}.", list.join(", ")));
    }
    text
}

/// Which of the plausible versions have a key, where not all do.
fn since(config: &Value, path: &Path, languages: &[(&'static str, Language)]) -> Option<String> {
    let with: Vec<_> =
        languages.iter().filter(|(_, one)| one.key(config, path).is_some()).map(|(name, _)| *name).collect();
    (with.len() < languages.len())
        .then(|| format!("Only in {}", with.iter().map(|one| named(one)).collect::<Vec<_>>().join(", ")))
}

fn value(config: &Value, language: Language, version: &str, path: &Path, written: &str) -> Option<String> {
    match language::meaning(path)? {
        Meaning::ProviderType(api) => {
            let known = language.catalog().provider(&api, written)?;
            Some(provider(known, &api, version))
        }
        Meaning::ProviderOf(api) => {
            let ids = language::provider_ids(config, &api);
            let (id, kind) = ids.into_iter().find(|(id, _)| *id == written)?;
            let summary = language.catalog().provider(&api, kind).map(|known| format!("\n\n{}", known.summary));
            Some(format!("Provider `{id}` of {api}, `{kind}`{}", summary.unwrap_or_default()))
        }
        Meaning::Backend(_) => {
            let all = language::backends(config, None);
            let (name, kind) = all.into_iter().find(|(name, _)| *name == written)?;
            Some(format!("Storage backend `{name}`, `{kind}`"))
        }
        Meaning::Registered("models") => {
            let entry = path.parent()?.find(config)?;
            let text = |field: &str| entry.get(field).and_then(Value::as_str);
            let (provider, model) = (text("provider_id")?, text("provider_model_id").unwrap_or(written));
            Some(format!("Clients call this model `{provider}/{model}`"))
        }
        _ => None,
    }
}

fn provider(known: &ProviderType, api: &str, version: &str) -> String {
    let mut text = format!("`{}` for {api}, {}\n\n{}", known.provider_type, named(version), known.summary);
    if let Some(instead) = &known.deprecated {
        text.push_str(&format!("\n\nDeprecated: {instead}"));
    }
    if !known.requires.is_empty() {
        text.push_str(&format!("\n\nNeeds {}", known.requires.join(", ")));
    }
    if !known.optional.is_empty() {
        text.push_str(&format!("\n\nUses {} where it is served", known.optional.join(", ")));
    }
    let with = Catalog::versions_with(api, &known.provider_type);
    if with.len() < Catalog::versions().len() {
        text.push_str(&format!("\n\nOnly in {}", with.iter().map(|one| named(one)).collect::<Vec<_>>().join(", ")));
    }
    let settings = known.config.iter().take(SETTINGS).map(|(name, key)| {
        let required = if key.required { ", required" } else { "" };
        format!("\n- `{name}` {}{required}", key.kind.name())
    });
    let settings: String = settings.collect();
    if !settings.is_empty() {
        text.push_str(&format!("\n\nSettings:{settings}"));
    }
    text
}

/// Where the resources that mount the config take a variable from.
fn set_by(document: &DocumentAnalysis, config: &ConfigText, expression: &str) -> Option<String> {
    let name = expression.strip_prefix("${env.")?.trim_end_matches('}').split(':').next()?;
    let all = config.set_variables(document.facts());
    let (_, words) = all.into_iter().find(|(known, _)| known == name)?;
    Some(format!("Set: {words}"))
}

/// By which versions the config is judged, and why.
fn judged(config: &ConfigText, document: &DocumentAnalysis) -> String {
    let (versions, reason) = config.judged_by(document.facts());
    format!("---\nJudged by {versions}: {reason}")
}
