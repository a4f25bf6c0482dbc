//! Which files of the server's container come from which ConfigMap.
//!
//! Source: the operators. They mount the ConfigMap that `userConfig` or `overrideConfig` names, or the one with the
//! generated config, into a folder of their own; volumes of the user's own come beside it.

use super::context::RuleContext;
use crate::api::{ApiVersion, CONFIG_KEY, CONFIG_KEYS};
use crate::path::Path;
use serde_json::Value;
use std::collections::BTreeMap;

/// The folder that an operator mounts the config into, without the slash at its end.
pub(crate) fn config_folder(version: ApiVersion) -> &'static str {
    match version {
        ApiVersion::V1Alpha1 | ApiVersion::V1Alpha2 => "/etc/llama-stack",
        ApiVersion::OgxV1Beta1 => "/etc/ogx",
    }
}

/// The field that names the ConfigMap with a config of the user's own, and where the name stands.
fn reference(version: ApiVersion) -> (Path, &'static str) {
    match version {
        ApiVersion::V1Alpha1 => (RuleContext::spec("server.userConfig"), "configMapName"),
        ApiVersion::V1Alpha2 => (RuleContext::spec("overrideConfig"), "configMapName"),
        ApiVersion::OgxV1Beta1 => (RuleContext::spec("overrideConfig"), "name"),
    }
}

/// The short name of that field.
pub(crate) fn reference_field(version: ApiVersion) -> &'static str {
    match version {
        ApiVersion::V1Alpha1 => "userConfig",
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => "overrideConfig",
    }
}

/// The data of a ConfigMap in the resource's namespace, if it is known.
pub(crate) fn config_map<'a>(context: &RuleContext<'a>, name: &str) -> Option<&'a BTreeMap<String, String>> {
    context.facts.config_maps.as_ref()?.get(&(context.namespace().to_owned(), name.to_owned()))
}

/// Something that is mounted into the container.
pub(crate) struct Mounted<'a> {
    /// The folder, or the file where it is only one, without a slash at its end.
    at: &'a str,
    /// The part of the volume that is mounted; empty for all of it.
    sub_path: &'a str,
    pub(crate) source: Source<'a>,
}

/// What stands behind a mount.
pub(crate) enum Source<'a> {
    /// A ConfigMap, whose keys are files.
    ConfigMap {
        name: &'a str,
        /// Where the resource names it.
        named_at: Path,
        /// Keys and the files that they become, where only some do.
        items: Option<Vec<(&'a str, &'a str)>>,
    },
    /// What the operator generates: a file of one name.
    Generated,
    /// Anything else, or something that is not known.
    Other,
}

/// What a file of the container is.
pub(crate) enum File<'m, 'a> {
    /// Below a mount: what is mounted, and the path within the volume.
    Mounted(&'m Mounted<'a>, String),
    /// No mount reaches there.
    Image,
}

/// All mounts of the server's container that hold files for it to read; `None` where a template decides about them.
pub(crate) fn mounts<'a>(context: &RuleContext<'a>) -> Option<Vec<Mounted<'a>>> {
    let mut found = Vec::new();
    let (config, name_field) = reference(context.version);
    let pod = RuleContext::spec(match context.version {
        ApiVersion::V1Alpha1 => "server.podOverrides",
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => "workload.overrides",
    });
    let (volumes, volume_mounts) = (pod.key("volumes"), pod.key("volumeMounts"));
    if [&config, &volumes, &volume_mounts].into_iter().any(|place| !context.is_complete(place)) {
        return None;
    }
    if let Some(source) = of_operator(context, &config, name_field) {
        found.push(Mounted { at: config_folder(context.version), sub_path: "", source });
    }
    for (path, _) in context.items(&volume_mounts) {
        let text = |field: &str| context.text(&path.key(field)).unwrap_or_default();
        let at = text("mountPath").trim_end_matches('/');
        let sub_path = if text("subPathExpr").is_empty() { text("subPath") } else { return None };
        let named = context.items(&volumes).find(|(volume, _)| context.text(&volume.key("name")) == Some(text("name")));
        let source = named.map_or(Source::Other, |(volume, _)| of_volume(context, &volume));
        found.push(Mounted { at, sub_path, source });
    }
    Some(found)
}

/// What the operator mounts as the folder of the config.
fn of_operator<'a>(context: &RuleContext<'a>, config: &Path, name_field: &str) -> Option<Source<'a>> {
    let named_at = config.key(name_field);
    if let Some(name) = context.text(&named_at) {
        let key = context.text(&config.key("key")).unwrap_or(CONFIG_KEY);
        let items = (context.version == ApiVersion::OgxV1Beta1).then(|| vec![(key, CONFIG_KEY)]);
        return Some(Source::ConfigMap { name, named_at, items });
    }
    if context.get(config).is_some() {
        return Some(Source::Other);
    }
    let parts = ["providers", "resources", "storage", "disabled", "disabledAPIs"];
    let generates = context.version != ApiVersion::V1Alpha1 && parts.iter().any(|part| context.is_present(part));
    // External providers are merged into a config elsewhere.
    let merges = context.is_present("externalProviders");
    (generates || merges).then_some(if merges { Source::Other } else { Source::Generated })
}

fn of_volume<'a>(context: &RuleContext<'a>, volume: &Path) -> Source<'a> {
    let holder = volume.key("configMap");
    let named_at = holder.key("name");
    let Some(name) = context.text(&named_at) else { return Source::Other };
    let list = holder.key("items");
    let items = context.get(&list).and_then(Value::as_array).map(|items| {
        let pair = |item: &'a Value| Some((item.get("key")?.as_str()?, item.get("path")?.as_str()?));
        items.iter().filter_map(pair).collect()
    });
    Source::ConfigMap { name, named_at, items }
}

/// What the file at an absolute path is: of several mounts the deepest counts, and of two at one place the last.
pub(crate) fn find<'m, 'a>(mounts: &'m [Mounted<'a>], file: &str) -> File<'m, 'a> {
    let below = |mount: &'m Mounted<'a>| {
        let rest = file.strip_prefix(mount.at)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| (mount, rest.trim_start_matches('/')))
    };
    match mounts.iter().filter_map(below).max_by_key(|(mount, _)| mount.at.len()) {
        Some((mount, rest)) => {
            let parts = [mount.sub_path.trim_matches('/'), rest];
            File::Mounted(mount, parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/"))
        }
        None => File::Image,
    }
}

impl<'a> Source<'a> {
    /// The key whose text is the file at `inner`; `None` where no item makes one.
    pub(crate) fn key(&self, inner: &str) -> Option<String> {
        match self {
            Self::ConfigMap { items: Some(items), .. } => {
                items.iter().find(|(_, path)| *path == inner).map(|(key, _)| (*key).to_owned())
            }
            Self::ConfigMap { items: None, .. } => Some(inner.to_owned()),
            Self::Generated => (inner == CONFIG_KEY).then(|| inner.to_owned()),
            Self::Other => None,
        }
    }
}

/// The variables that tell an image's entry point, or the server, which config to start with.
pub(crate) const CONFIG_VARIABLES: [&str; 3] = ["RUN_CONFIG_PATH", "LLAMA_STACK_CONFIG", "OGX_CONFIG"];

/// The places that name the file of the config: parts of the command, and variables. Each with its text.
pub(crate) fn naming<'a>(context: &RuleContext<'a>) -> Vec<(Path, &'a str)> {
    let container = match context.version {
        ApiVersion::V1Alpha1 => RuleContext::spec("server.containerSpec"),
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => RuleContext::spec("workload.overrides"),
    };
    let parts = ["command", "args"].into_iter().flat_map(|field| context.items(&container.key(field)));
    let variables = context.env().into_iter().filter(|(name, ..)| CONFIG_VARIABLES.contains(name));
    let places = parts.map(|(path, _)| path).chain(variables.map(|(_, path, _)| path.key("value")));
    places.filter_map(|path| context.text(&path).map(|text| (path, text))).collect()
}

/// The absolute paths of YAML files in a piece of a command, in order.
pub(crate) fn files(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_' | '/' | '$' | '{' | '}');
    let words = text.split(move |char: char| !is_part(char));
    words.filter(|word| {
        let plain = !word.contains(['$', '{', '}']);
        plain && word.starts_with('/') && (word.ends_with(".yaml") || word.ends_with(".yml"))
    })
}

/// The config that the server starts with, where it stands in a ConfigMap that is known: the ConfigMap's name, and the
/// text.
pub(crate) fn started_with<'a>(context: &RuleContext<'a>) -> Option<(&'a str, &'a str)> {
    let mounts = mounts(context)?;
    let named = naming(context);
    let mut files = named.iter().flat_map(|(_, text)| files(text));
    if let Some(found) = files.find_map(|file| in_config_map(context, &mounts, file)) {
        return Some(found);
    }
    let folder = config_folder(context.version);
    CONFIG_KEYS.iter().find_map(|key| in_config_map(context, &mounts, &format!("{folder}/{key}")))
}

/// The text of a file, and the name of the ConfigMap that it is in.
fn in_config_map<'a>(context: &RuleContext<'a>, mounts: &[Mounted<'a>], file: &str) -> Option<(&'a str, &'a str)> {
    let File::Mounted(mount, inner) = find(mounts, file) else { return None };
    let Source::ConfigMap { name, .. } = mount.source else { return None };
    let text = config_map(context, name)?.get(&mount.source.key(&inner)?)?;
    (!text.is_empty()).then_some((name, text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_command() {
        let found = |text| files(text).collect::<Vec<_>>();
        assert_eq!(found("/etc/llama-stack/run.yaml"), ["/etc/llama-stack/run.yaml"]);
        assert_eq!(found("llama stack run \"/a/b-c.yml\" --x=/d.yaml;"), ["/a/b-c.yml", "/d.yaml"]);
        assert!(found("run.yaml $DIR/run.yaml ${DIR}/run.yaml ./run.yaml /a/run.json").is_empty());
    }

    #[test]
    fn the_deepest_mount_counts() {
        let mount = |at, sub_path, name| Mounted {
            at,
            sub_path,
            source: Source::ConfigMap { name, named_at: Path::root(), items: None },
        };
        let mounts = [mount("/a", "", "outer"), mount("/a/b.yaml", "c.yaml", "inner")];
        let found = |file| match find(&mounts, file) {
            File::Mounted(Mounted { source: Source::ConfigMap { name, .. }, .. }, inner) => Some((*name, inner)),
            _ => None,
        };
        assert_eq!(found("/a/b.yaml"), Some(("inner", "c.yaml".to_owned())));
        assert_eq!(found("/a/d.yaml"), Some(("outer", "d.yaml".to_owned())));
        assert_eq!(found("/ab/d.yaml"), None);
    }
}
