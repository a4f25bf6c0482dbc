//! Which provider type a short name means.

use crate::catalog::Catalog;
use crate::nearest::nearest;

/// A provider type that the target version does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Unknown {api} provider \"{written}\" in llama-stack {version}{}", hint(.nearest.as_deref(), .elsewhere.as_deref(), .known))]
pub struct ProviderTypeError {
    /// The API, in llama-stack's spelling.
    pub api: String,
    /// The type as the resource writes it.
    pub written: String,
    /// The llama-stack version whose catalog was asked, `0.4.7`.
    pub version: String,
    /// The type that was probably meant, written the way the user wrote theirs.
    pub nearest: Option<String>,
    /// Another API that has a provider of this name.
    pub elsewhere: Option<String>,
    /// The types that exist, in full.
    pub known: Vec<String>,
}

fn hint(nearest: Option<&str>, elsewhere: Option<&str>, known: &[String]) -> String {
    if let Some(name) = nearest {
        return format!(". Did you mean \"{name}\"?");
    }
    if let Some(api) = elsewhere {
        return format!(". It is a provider of {api}");
    }
    if known.is_empty() {
        return ", which has no providers for this API".to_owned();
    }
    format!(". Known types: {}", known.join(", "))
}

/// The full provider type for what a resource writes. `kind::name` is taken as written, a bare `name` is
/// `remote::name`, or `inline::name` where only that exists. Without a catalog every type is taken on trust.
///
/// # Errors
/// The catalog does not have the type.
pub fn resolve_type(catalog: Option<&Catalog>, api: &str, written: &str) -> Result<String, Box<ProviderTypeError>> {
    let full = written.contains("::");
    let remote = if full { written.to_owned() } else { format!("remote::{written}") };
    let Some(catalog) = catalog else { return Ok(remote) };
    if catalog.provider(api, &remote).is_some() {
        return Ok(remote);
    }
    if !full {
        let inline = format!("inline::{written}");
        if catalog.provider(api, &inline).is_some() {
            return Ok(inline);
        }
    }
    let known: Vec<String> = catalog.providers(api).map(|known| known.provider_type.clone()).collect();
    Err(Box::new(ProviderTypeError {
        api: api.to_owned(),
        written: written.to_owned(),
        version: catalog.version().to_owned(),
        nearest: closest(written, full, &known),
        elsewhere: catalog.apis().find(|other| *other != api && has(catalog, other, written)).map(str::to_owned),
        known,
    }))
}

/// The known type that is closest, in the user's own form: short names stay short. The other kind of the same name
/// (`inline::vllm` for `remote::vllm`) is always close.
fn closest(written: &str, full: bool, known: &[String]) -> Option<String> {
    let short = |name: &'_ str| name.split_once("::").map_or(name, |(_, rest)| rest).to_owned();
    if full {
        let same = known.iter().find(|other| short(other) == short(written));
        let near = || nearest(written, known.iter().map(String::as_str)).map(str::to_owned);
        return same.cloned().or_else(near);
    }
    let names: Vec<String> = known.iter().map(|other| short(other)).collect();
    nearest(written, names.iter().map(String::as_str)).map(str::to_owned)
}

fn has(catalog: &Catalog, api: &str, written: &str) -> bool {
    let kinds = ["remote", "inline"].map(|kind| format!("{kind}::{written}"));
    catalog.provider(api, written).is_some() || kinds.iter().any(|full| catalog.provider(api, full).is_some())
}
