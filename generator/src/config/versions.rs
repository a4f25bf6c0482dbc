//! Which versions of the server a config is written for.

use crate::catalog::Catalog;
use serde_json::Value;

/// What the server of a version is called: llama-stack up to 0.7, ogx from then on.
pub(super) fn product(version: &str) -> &'static str {
    if is_ogx(version) { "ogx" } else { "llama-stack" }
}

/// Whether a version is one of ogx. Source: llama-stack ended with 0.7.3, ogx began with 0.8.
pub(super) fn is_ogx(version: &str) -> bool {
    numbers(version) >= vec![0, 8]
}

/// Whether a version exits without TLS, unless it is told to serve plain HTTP (ogx 1.2 and later).
pub(super) fn exits_without_tls(version: &str) -> bool {
    numbers(version) >= vec![1, 2]
}

/// Whether a version only warns of an API that is listed and has no provider (ogx 1.5 and later).
pub(super) fn warns_of_empty_apis(version: &str) -> bool {
    numbers(version) >= vec![1, 5]
}

/// Whether a version leaves out registered resources whose id comes to nothing, and has a default for each store
/// (llama-stack 0.4 and later).
pub(super) fn skips_entries(version: &str) -> bool {
    numbers(version) >= vec![0, 4]
}

/// Whether a version calls its distribution `distro_name`, and takes `image_name` for it (llama-stack 0.5 and later).
pub(super) fn has_distro_name(version: &str) -> bool {
    numbers(version) >= vec![0, 5]
}

/// Whether a version has more of the API connectors than its name: not 0.4, which exits where the API is served.
pub(super) fn serves_connectors(version: &str) -> bool {
    numbers(version) >= vec![0, 5]
}

/// Whether a version goes without authentication where the type of its provider comes to nothing (llama-stack 0.6 and
/// later), and does not exit.
pub(super) fn drops_auth_without_type(version: &str) -> bool {
    numbers(version) >= vec![0, 6]
}

/// Whether a version takes addresses of inference providers with their path (llama-stack 0.4 and later).
pub(super) fn has_new_addresses(version: &str) -> bool {
    numbers(version) >= vec![0, 4]
}

/// Whether a version drops registered tool groups: they follow from the providers (llama-stack 0.7 and later).
pub(super) fn drops_tool_groups(version: &str) -> bool {
    numbers(version) >= vec![0, 7]
}

/// Whether a version takes the address of PostgreSQL in one piece (ogx 1.5 and later).
pub(super) fn has_connection_strings(version: &str) -> bool {
    numbers(version) >= vec![1, 5]
}

/// Whether the tool that searches files is called `file_search` (llama-stack 0.7 and later), not `knowledge_search`.
pub(super) fn searches_files(version: &str) -> bool {
    numbers(version) >= vec![0, 7]
}

/// The numbers of a version, most significant first.
pub(super) fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// The version with a catalog that stands for another one: itself, or the one of the same minor version.
pub(super) fn nearest(version: &str) -> Option<&'static str> {
    let exact = Catalog::versions().iter().find(|known| *known == version);
    let minor = |version: &str| numbers(version).into_iter().take(2).collect::<Vec<_>>();
    let wanted = Some(minor(version)).filter(|numbers| numbers.len() == 2);
    let same = || Catalog::versions().iter().find(|known| Some(minor(known)) == wanted);
    exact.or_else(same).map(String::as_str)
}

/// The versions that know most of a config's APIs and provider types, oldest first: all of them where it has none.
/// What only one side calls its distribution (`image_name`, `distro_name`) decides between the rest.
pub(super) fn plausible(config: &Value) -> Vec<&'static str> {
    let missing = |version: &str| {
        let types = config.get("providers").and_then(Value::as_object).into_iter().flatten().flat_map(|(api, list)| {
            let kinds = list.as_array().into_iter().flatten().filter_map(|item| item.get("provider_type")?.as_str());
            kinds.map(move |kind| (api, kind))
        });
        types.filter(|(api, kind)| !kind.contains("${") && !Catalog::has_type(version, api, kind)).count()
    };
    let all = Catalog::versions().iter().map(String::as_str);
    let counted: Vec<(usize, &'static str)> = all.map(|version| (missing(version), version)).collect();
    let least = counted.iter().map(|(count, _)| *count).min().unwrap_or_default();
    let mut found: Vec<&'static str> =
        counted.into_iter().filter(|(count, _)| *count == least).map(|(_, version)| version).collect();
    let mut prefer = |wanted: &dyn Fn(&str) -> bool| {
        if found.iter().any(|version| wanted(version)) {
            found.retain(|version| wanted(version));
        }
    };
    let has = |key: &str| config.get(key).is_some_and(|value| !value.is_null());
    if has("distro_name") {
        prefer(&has_distro_name);
    } else if has("image_name") {
        prefer(&|version| !is_ogx(version));
    }
    found
}
