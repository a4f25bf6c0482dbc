//! How secrets reach the server: as environment variables that the config names. Values never pass through here.

use super::error::GenerateError;
use crate::api::v1alpha2::SecretKeyRef;
use crate::path::Path;

/// A key of a Secret in the resource's namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKey {
    /// `metadata.name` of a Secret in the resource's namespace.
    pub name: String,
    /// The key in the Secret's `data`.
    pub key: String,
}

impl From<&SecretKeyRef> for SecretKey {
    fn from(reference: &SecretKeyRef) -> Self {
        Self { name: reference.secret_key_ref.name.clone(), key: reference.secret_key_ref.key.clone() }
    }
}

/// Where the value of a variable comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvSource {
    /// A Secret of the user.
    Secret(SecretKey),
    /// A Secret that the operator derives: see [`DerivedSecret`].
    Derived(SecretKey),
}

impl EnvSource {
    /// The Secret and key, whoever made it.
    #[must_use]
    pub fn secret(&self) -> &SecretKey {
        match self {
            Self::Secret(key) | Self::Derived(key) => key,
        }
    }
}

/// An environment variable of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name, in llama-stack's alphabet `[A-Z0-9_]`.
    pub name: String,
    /// Where its value comes from.
    pub source: EnvSource,
    /// The field of the resource that asks for it.
    pub origin: Path,
}

/// What a derived Secret holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivedKind {
    /// The parts of a PostgreSQL URL: keys `host`, `port`, `db`, `user`, `password`. The password is percent-encoded,
    /// because llama-stack puts it into a URL. One that reads as a number needs an encoded character too: llama-stack
    /// turns such values into numbers, and then refuses them.
    Postgres,
    /// A Redis password: key `password`, percent-encoded, because llama-stack puts it into a URL.
    RedisPassword,
}

impl DerivedKind {
    /// The keys of the derived Secret.
    #[must_use]
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Postgres => &["host", "port", "db", "user", "password"],
            Self::RedisPassword => &["password"],
        }
    }
}

/// A Secret that the operator has to make from one of the user's, own, and keep in step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedSecret {
    /// `metadata.name` that the operator gives it in the resource's namespace.
    pub name: String,
    /// The Secret and key that it is made from.
    pub source: SecretKey,
    /// Which keys it has, and how their values are made.
    pub kind: DerivedKind,
    /// The field of the resource that names `source`.
    pub origin: Path,
}

/// The variable for a secret: `LLSD_<ID>_<FIELD>`, upper case, every character that is no letter or digit as `_`.
#[must_use]
pub fn variable_name(id: &str, field: &str) -> String {
    let name = format!("LLSD_{id}_{field}");
    name.chars().map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' }).collect()
}

/// How a config refers to a variable.
pub(super) fn reference(variable: &str) -> String {
    format!("${{env.{variable}}}")
}

/// Checks that no variable would have to hold two secrets, and drops repetitions of one.
///
/// # Errors
/// Two secrets share a name, as those of the ids `a-b` and `a_b` do.
pub(super) fn distinct(variables: Vec<EnvVar>) -> Result<Vec<EnvVar>, GenerateError> {
    let mut kept: Vec<EnvVar> = Vec::with_capacity(variables.len());
    for variable in variables {
        match kept.iter().find(|other| other.name == variable.name) {
            None => kept.push(variable),
            Some(other) if other.source == variable.source => {}
            Some(other) => {
                return Err(GenerateError::VariableClash {
                    variable: variable.name,
                    first: other.origin.clone(),
                    second: variable.origin,
                });
            }
        }
    }
    Ok(kept)
}
