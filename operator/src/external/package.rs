//! What a provider's image says about it: the file `lls-provider-spec.yaml`.

use llsd_generator::document::Plain;
use serde_json::Value;

/// The description of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// The Python module that llama-stack imports the provider from.
    pub(super) module: String,
    /// The provider type in full, with `remote::` or `inline::`.
    pub(super) provider_type: String,
    /// The API that it serves, in llama-stack's spelling.
    pub(super) api: String,
}

/// Reads a description. The error says what is wrong with it.
pub(super) fn read(text: &str) -> Result<Package, String> {
    let document = llsd_yaml::parse_document(text);
    if let Some(error) = document.strict_error() {
        let line = text.get(..error.span.start).map_or(1, |before| before.matches('\n').count() + 1);
        return Err(format!("line {line}: {}", error.message));
    }
    let value = Plain::read(&document).value;
    let kind = value["kind"].as_str().unwrap_or_default();
    if kind != "ProviderPackage" {
        return Err(format!("kind is {kind:?}, expected \"ProviderPackage\""));
    }
    let field = |name: &str| match &value["spec"][name] {
        Value::String(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Value::Null => Err(format!("spec.{name} is missing")),
        other => Err(format!("spec.{name} is {other}, expected a text")),
    };
    let (module, provider_type, api) = (field("packageName")?, field("providerType")?, field("api")?);
    if !is_module(&module) {
        return Err(format!("spec.packageName {module:?} is not the path of a Python module"));
    }
    let name = provider_type.strip_prefix("remote::").or_else(|| provider_type.strip_prefix("inline::"));
    if !name.is_some_and(|name| !name.is_empty() && name.chars().all(is_name)) {
        return Err(format!("spec.providerType {provider_type:?} is not remote::NAME or inline::NAME"));
    }
    Ok(Package { module, provider_type, api: snake(&api) })
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_')
}

/// Identifiers with dots between them.
fn is_module(path: &str) -> bool {
    path.split('.').all(|part| {
        !part.is_empty()
            && !part.starts_with(|letter: char| letter.is_ascii_digit())
            && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// llama-stack's spelling of an API that may be written as the resource's fields are.
fn snake(api: &str) -> String {
    if api == "datasetIo" || api == "dataset_io" {
        return "datasetio".to_owned();
    }
    let mut out = String::new();
    for letter in api.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(spec: &str) -> String {
        format!("apiVersion: llamastack.io/v1alpha1\nkind: ProviderPackage\nspec: {spec}\n")
    }

    #[test]
    fn reads_what_is_needed() {
        let package = read(&text("{packageName: a.b_c, providerType: 'remote::my-one', api: vectorIo, wheelPath: x}"));
        let expected = Package {
            module: "a.b_c".to_owned(),
            provider_type: "remote::my-one".to_owned(),
            api: "vector_io".to_owned(),
        };
        assert_eq!(package, Ok(expected));
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            (text("{packageName: a, providerType: 'remote::a'}"), "spec.api is missing"),
            (text("{packageName: a b, providerType: 'remote::a', api: inference}"), "not the path of a Python module"),
            (text("{packageName: a, providerType: mine, api: inference}"), "not remote::NAME"),
            (text("{packageName: 7, providerType: 'remote::a', api: inference}"), "expected a text"),
            ("kind: Pod\n".to_owned(), "kind is \"Pod\""),
            ("kind: [\n".to_owned(), "line "),
            (String::new(), "kind is \"\""),
        ];
        for (text, words) in cases {
            let error = read(&text).expect_err("it is refused");
            assert!(error.contains(words), "{error}");
        }
    }
}
