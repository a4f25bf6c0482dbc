//! Stage: models, tool groups and shields to register.

use super::disabled::RESOURCE_LISTS;
use super::draft::{Draft, condition, plain_id, spec_path};
use super::error::GenerateError;
use super::origin::Origin;
use super::providers::of_api;
use super::tracked::{Map, Tracked};
use super::warning::Warning;
use crate::api::v1alpha2::Model;
use crate::path::Path;

/// What a model without `modelType` is.
const DEFAULT_MODEL_TYPE: &str = "llm";
/// The provider type whose tool groups llama-stack registers with the address of a server only.
const MCP: &str = "remote::model-context-protocol";
/// The model type that llama-stack registers with a dimension only.
const EMBEDDING: &str = "embedding";

/// Registers `spec.resources`. An entry with the identity of one in the base replaces it in place, others append.
///
/// # Errors
/// There is no provider for what is to be registered, or not the one that is named.
pub(super) fn register(draft: &mut Draft<'_>) -> Result<(), GenerateError> {
    let Some(resources) = &draft.spec.resources else { return Ok(()) };
    let at = spec_path().key("resources");
    for (position, model) in resources.models.iter().flatten().enumerate() {
        let path = at.key("models").index(position);
        let entry = self::model(draft, model, &path)?;
        put(draft, &at, "models", "model_id", entry);
    }
    for (position, tool) in resources.tools.iter().flatten().enumerate() {
        let path = at.key("tools").index(position);
        let entry = tool_group(draft, tool, &path)?;
        put(draft, &at, "tool_groups", "toolgroup_id", entry);
    }
    for (position, shield) in resources.shields.iter().flatten().enumerate() {
        let path = at.key("shields").index(position);
        let entry = self::shield(draft, shield, &path)?;
        put(draft, &at, "shields", "shield_id", entry);
    }
    Ok(())
}

fn model(draft: &mut Draft<'_>, model: &Model, path: &Path) -> Result<Tracked, GenerateError> {
    let (provider, provider_origin) = match &model.provider {
        Some(id) => {
            let at = path.key("provider");
            (named_provider(draft, &model.name, id, &at)?, Origin::Resource(at))
        }
        None => own_provider(draft, "inference", "inference")
            .or_else(|| first_of_base(draft, "inference"))
            .ok_or_else(|| GenerateError::NoModelProvider { path: path.clone() })?,
    };
    let name = Origin::Resource(path.key("name"));
    let model_type = match &model.model_type {
        Some(kind) => Tracked::text(Origin::Resource(path.key("modelType")), kind),
        None => Tracked::text(Origin::Default("the model type of llama-stack"), DEFAULT_MODEL_TYPE),
    };
    let mut entry = Map::from([
        ("model_id".to_owned(), Tracked::text(name.clone(), &model.name)),
        ("provider_id".to_owned(), Tracked::text(provider_origin, provider)),
        ("provider_model_id".to_owned(), Tracked::text(name, &model.name)),
        ("model_type".to_owned(), model_type),
    ]);
    let mut metadata = Map::new();
    if model.model_type.as_deref() == Some(EMBEDDING) {
        let dimension = embedding_dimension(draft, &model.name)
            .ok_or_else(|| GenerateError::NoDimension { path: path.key("modelType"), model: model.name.clone() })?;
        metadata.insert("embedding_dimension".to_owned(), dimension);
    }
    if let Some(length) = model.context_length {
        let origin = Origin::Resource(path.key("contextLength"));
        metadata.insert("context_length".to_owned(), Tracked::number(origin, length));
    }
    if let Some(quantization) = &model.quantization {
        let origin = Origin::Resource(path.key("quantization"));
        metadata.insert("quantization".to_owned(), Tracked::text(origin, quantization));
    }
    if !metadata.is_empty() {
        entry.insert("metadata".to_owned(), mapping(path, metadata));
    }
    Ok(mapping(path, entry))
}

/// The dimension that the base has registered an embedding model with. The resource has no field for it.
fn embedding_dimension(draft: &Draft<'_>, model: &str) -> Option<Tracked> {
    let names =
        |entry: &&Tracked| ["model_id", "provider_model_id"].iter().any(|key| entry.text_of(key) == Some(model));
    let entry = registered(&draft.config, "models")?.as_list()?.iter().find(names)?;
    entry.get("metadata")?.get("embedding_dimension").cloned()
}

/// The inference provider that a model names: one of the config, or an external one.
fn named_provider(draft: &mut Draft<'_>, model: &str, id: &str, path: &Path) -> Result<String, GenerateError> {
    let found = of_api(&draft.config, "inference").map(|(written, _)| written).find(|written| plain_id(written) == id);
    if let Some((variable, _)) = found.and_then(condition).filter(|(variable, _)| !sets(draft, variable)) {
        let (id, variable) = (id.to_owned(), variable.to_owned());
        draft.warnings.push(Warning::ConditionalProvider { path: path.clone(), id, variable });
    }
    let external = draft.spec.external_providers.as_ref().and_then(|external| external.inference.as_deref());
    let external = external.unwrap_or_default().iter().map(|provider| provider.provider_id.as_str());
    if found.is_some() || external.clone().any(|other| other == id) {
        return Ok(id.to_owned());
    }
    let merged = of_api(&draft.config, "inference").map(|(written, _)| plain_id(written));
    Err(GenerateError::UnknownModelProvider {
        path: path.clone(),
        model: model.to_owned(),
        provider: id.to_owned(),
        ids: merged.chain(external).map(str::to_owned).collect(),
    })
}

/// Whether the resource itself sets a variable.
fn sets(draft: &Draft<'_>, variable: &str) -> bool {
    let overrides = draft.spec.workload.as_ref().and_then(|workload| workload.overrides.as_ref());
    overrides.is_some_and(|overrides| overrides.env.iter().flatten().any(|entry| entry.name == variable))
}

/// The first provider of an API in the resource, and where its id comes from. One for MCP servers only where there is
/// no other: it serves no tool group without an address, for which the resource has no field.
fn own_provider(draft: &Draft<'_>, api: &str, field: &str) -> Option<(String, Origin)> {
    let lists = draft.spec.providers.as_ref()?;
    let (_, _, list) = lists.iter().find(|(other, _, _)| *other == api)?;
    let position = list.iter().position(|provider| !MCP.ends_with(&provider.provider)).unwrap_or(0);
    let first = list.get(position)?;
    let at = spec_path().key("providers").key(field).index(position);
    let path = if first.id.is_some() { at.key("id") } else { at.key("provider") };
    Some((first.effective_id().to_owned(), Origin::Resource(path)))
}

fn tool_group(draft: &mut Draft<'_>, tool: &str, path: &Path) -> Result<Tracked, GenerateError> {
    let id = toolgroup_id(tool);
    let usual = registered_provider(draft, &id);
    let (provider, origin) = own_provider(draft, "tool_runtime", "toolRuntime")
        .or_else(|| usual.clone())
        .or_else(|| first_of_base(draft, "tool_runtime"))
        .ok_or_else(|| GenerateError::NoToolProvider { path: path.clone() })?;
    let kind = of_api(&draft.config, "tool_runtime").find(|(written, _)| plain_id(written) == provider);
    let needs_address = kind.and_then(|(_, entry)| entry.text_of("provider_type")) == Some(MCP);
    if needs_address || id.starts_with("mcp::") {
        return Err(GenerateError::NoToolAddress { path: path.clone(), tool: id });
    }
    if let Some((usual, _)) = usual.filter(|(usual, _)| *usual != provider && matches!(origin, Origin::Resource(_))) {
        let (tool, provider) = (id.clone(), provider.clone());
        draft.warnings.push(Warning::OtherProvider { path: path.clone(), tool, provider, usual });
    }
    let entry = Map::from([
        ("toolgroup_id".to_owned(), Tracked::text(Origin::Resource(path.clone()), id)),
        ("provider_id".to_owned(), Tracked::text(origin, provider)),
    ]);
    Ok(mapping(path, entry))
}

/// The tool group that a name means: `builtin::websearch` for `websearch`.
fn toolgroup_id(tool: &str) -> String {
    if tool.contains("::") { tool.to_owned() } else { format!("builtin::{tool}") }
}

/// The provider that the base has registered a tool group with, if the config still has that provider.
fn registered_provider(draft: &Draft<'_>, id: &str) -> Option<(String, Origin)> {
    let list = registered(&draft.config, "tool_groups")?.as_list()?;
    let entry = list.iter().find(|entry| entry.text_of("toolgroup_id") == Some(id))?;
    let provider = entry.get("provider_id")?;
    let name = provider.as_text()?;
    let exists = of_api(&draft.config, "tool_runtime").any(|(written, _)| written == name);
    exists.then(|| (name.to_owned(), provider.origin.clone()))
}

/// The first unconditional provider of an API in the config.
fn first_of_base(draft: &Draft<'_>, api: &str) -> Option<(String, Origin)> {
    let (id, entry) = of_api(&draft.config, api).find(|(written, _)| !written.starts_with("${"))?;
    Some((id.to_owned(), entry.get("provider_id")?.origin.clone()))
}

fn shield(draft: &Draft<'_>, shield: &str, path: &Path) -> Result<Tracked, GenerateError> {
    let (provider, origin) = own_provider(draft, "safety", "safety")
        .or_else(|| first_of_base(draft, "safety"))
        .ok_or_else(|| GenerateError::NoShieldProvider { path: path.clone() })?;
    let entry = Map::from([
        ("shield_id".to_owned(), Tracked::text(Origin::Resource(path.clone()), shield)),
        ("provider_id".to_owned(), Tracked::text(origin, provider)),
    ]);
    Ok(mapping(path, entry))
}

fn mapping(path: &Path, entries: Map) -> Tracked {
    let origin = Origin::Resource(path.clone());
    let mut tracked = Tracked::map(origin.clone());
    *tracked.map_mut(&origin) = entries;
    tracked
}

/// Where a config keeps a list of registered resources: in `registered_resources`, before 0.4 at the top.
fn registered<'c>(config: &'c Tracked, list: &str) -> Option<&'c Tracked> {
    config.get("registered_resources").and_then(|group| group.get(list)).or_else(|| config.get(list))
}

/// Puts an entry in place of the base's entry of the same identity, else behind the last.
fn put(draft: &mut Draft<'_>, at: &Path, list: &str, identity: &str, entry: Tracked) {
    let origin = Origin::Resource(at.clone());
    let old_style = draft.config.get("registered_resources").is_none()
        && RESOURCE_LISTS.iter().any(|(name, _)| draft.config.get(name).is_some_and(|value| value.as_list().is_some()));
    let group =
        if old_style { draft.root() } else { draft.config.child_map("registered_resources", &origin).map_mut(&origin) };
    let items = group.entry(list.to_owned()).or_insert_with(|| Tracked::list(origin.clone())).list_mut(&origin);
    // Two models of one name on two providers of the resource are two entries: clients call them by provider and name.
    let same = items.iter().position(|other| {
        let own = matches!(other.origin, Origin::Resource(_));
        other.text_of(identity).is_some_and(|id| Some(plain_id(id)) == entry.text_of(identity))
            && (!own || other.text_of("provider_id") == entry.text_of("provider_id"))
    });
    match same {
        Some(position) => items[position] = entry,
        None => items.push(entry),
    }
}

/// Number of registered resources in a config.
pub(super) fn count(config: &Tracked) -> usize {
    RESOURCE_LISTS.iter().filter_map(|(list, _)| registered(config, list)?.as_list()).map(<[Tracked]>::len).sum()
}
