//! Secrets as environment variables, under upstream's names.

use super::error::Error;
use crate::generate::{EnvSource, EnvVar, SecretKey};
use crate::path::Path;
use serde_json::Value;

/// The variables that a config asks for.
#[derive(Default)]
pub(super) struct Secrets(Vec<EnvVar>);

impl Secrets {
    /// Notes a secret; comes back as the config refers to it.
    pub(super) fn add(&mut self, variable: String, secret: &Value, origin: &Path) -> String {
        let text = |field: &str| secret[field].as_str().unwrap_or_default().to_owned();
        let source = EnvSource::Secret(SecretKey { name: text("name"), key: text("key") });
        let reference = reference(&variable);
        self.0.push(EnvVar { name: variable, source, origin: origin.clone() });
        reference
    }

    /// Whether a secret is named at this place.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.0.iter().any(|variable| variable.origin == *path)
    }

    /// The variables by name, each once.
    ///
    /// # Errors
    /// Two secrets share a name, as those of the ids `a-b` and `a_b` do.
    pub(super) fn distinct(mut self) -> Result<Vec<EnvVar>, Error> {
        self.0.sort_by(|one, other| one.name.cmp(&other.name));
        for pair in self.0.windows(2) {
            let [one, other] = pair else { continue };
            if one.name == other.name && one.source != other.source {
                let shown = |variable: &EnvVar| {
                    let secret = variable.source.secret();
                    format!("{}/{}", secret.name, secret.key)
                };
                return Err(Error::Variable {
                    variable: one.name.clone(),
                    one: shown(one),
                    other: shown(other),
                    first: one.origin.clone(),
                    path: other.origin.clone(),
                });
            }
        }
        self.0.dedup_by(|one, other| one.name == other.name);
        Ok(self.0)
    }
}

/// The variable for a secret of a provider: `OGX_<ID>_<FIELD>`.
#[must_use]
pub fn variable_name(id: &str, field: &str) -> String {
    format!("OGX_{}_{}", normalized(id), normalized(field))
}

/// Capitals and digits, every run of other characters as one `_`, none at the ends; never empty, never a digit first.
fn normalized(text: &str) -> String {
    let upper = text.to_uppercase();
    let words = upper.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// How a config refers to a variable.
pub(super) fn reference(variable: &str) -> String {
    format!("${{env.{variable}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_provider_and_field() {
        assert_eq!(variable_name("remote-vllm", "api_token"), "OGX_REMOTE_VLLM_API_TOKEN");
        assert_eq!(variable_name("a--b.", "x"), "OGX_A_B_X");
        assert_eq!(variable_name("7b", "é"), "OGX__7B__");
    }
}
