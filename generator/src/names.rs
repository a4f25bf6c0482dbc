//! Names of Kubernetes objects, as types. A name that comes out of a resource is data that anybody may have written:
//! what goes into a URL, a path or a command line has to be one of these first.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Greatest length of a DNS-1123 subdomain, in bytes (RFC 1123, and `validation.IsDNS1123Subdomain` of Kubernetes).
pub const MAX_SUBDOMAIN: usize = 253;
/// Greatest length of a DNS-1123 label, in bytes.
pub const MAX_LABEL: usize = 63;

/// Whether `text` is a DNS-1123 label: 1 to 63 lower-case letters, digits and inner dashes. Namespaces are called so.
#[must_use]
pub fn is_label(text: &str) -> bool {
    text.len() <= MAX_LABEL && is_part(text)
}

/// Whether `text` is a DNS-1123 subdomain: at most 253 bytes of parts with dots between them, each of lower-case letters,
/// digits and inner dashes. Secrets, ConfigMaps and most other objects are called so.
#[must_use]
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= MAX_SUBDOMAIN && text.split('.').all(is_part)
}

/// Whether `text` is a part of such a name, of any length: Kubernetes bounds the whole, not the parts.
#[must_use]
pub fn is_part(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| is_inner(*byte) && *byte != b'-');
    let bytes = text.as_bytes();
    edge(bytes.first()) && edge(bytes.last()) && bytes.iter().all(|byte| is_inner(*byte))
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// The pattern of [`is_subdomain`] for the CRD, which bounds the length apart from it.
pub const SUBDOMAIN_PATTERN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// The pattern of [`is_label`] for the CRD, which bounds the length apart from it.
pub const LABEL_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is not a DNS-1123 subdomain, which names of objects have to be. Holds at most its first 63 characters.
    #[error(
        "{0:?} is not the name of an object: lower-case letters, digits, `-` and `.`, at most {MAX_SUBDOMAIN}, beginning \
         and ending with a letter or digit"
    )]
    Object(String),
    /// The text is not a DNS-1123 label, which names of namespaces have to be. Holds at most its first 63 characters.
    #[error(
        "{0:?} is not the name of a namespace: lower-case letters, digits and `-`, at most {MAX_LABEL}, beginning and \
         ending with a letter or digit"
    )]
    Namespace(String),
}

/// The text of a bad name that an error may repeat: messages go into conditions and logs.
fn shown(text: &str) -> String {
    text.chars().take(MAX_LABEL).collect()
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $is:ident, $error:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Arc<str>);

        impl $type {
            /// The name, if it is one.
            ///
            /// # Errors
            /// It is not; the error repeats the first 63 characters.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                if $is(text) { Ok(Self(text.into())) } else { Err(NameError::$error(shown(text))) }
            }

            /// The name as it stands in the API.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $type {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of an object: a DNS-1123 subdomain. Clones share the text.
    ObjectName, is_subdomain, Object
}
name! {
    /// The name of a namespace: a DNS-1123 label. Clones share the text.
    Namespace, is_label, Namespace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_kubernetes_takes() {
        for good in ["a", "a-b", "0", "a.b-c.d", &"a".repeat(253)] {
            assert!(ObjectName::parse(good).is_ok(), "{good}");
        }
        let bad = [
            "",
            "-",
            "a-",
            ".",
            "a..b",
            "A",
            "a_b",
            "a/b",
            "a?b=c",
            "a%2Fb",
            "..",
            "a b",
            "ä",
            "a\n",
            &"a".repeat(254),
        ];
        for bad in bad {
            assert!(ObjectName::parse(bad).is_err(), "{bad}");
            assert!(Namespace::parse(bad).is_err(), "{bad}");
        }
        assert!(Namespace::parse(&"a".repeat(63)).is_ok());
        assert!(Namespace::parse(&"a".repeat(64)).is_err());
        assert!(Namespace::parse("a.b").is_err());
    }

    #[test]
    fn the_patterns_say_the_same() {
        let of = |pattern| regex::Regex::new(pattern).expect("a pattern");
        let (subdomain, label) = (of(SUBDOMAIN_PATTERN), of(LABEL_PATTERN));
        for text in
            ["a", "a-b", "0", "a.b-c.d", "", "-", "a-", ".", "a..b", "A", "a_b", "a/b", "..", "ä", "a\n", "a.-b"]
        {
            assert_eq!(subdomain.is_match(text), is_subdomain(text), "{text:?}");
            assert_eq!(label.is_match(text), is_label(text), "{text:?}");
        }
    }

    #[test]
    fn an_error_is_short_and_on_one_line() {
        let text = ObjectName::parse(&format!("\n{}", "x/".repeat(500))).expect_err("no name").to_string();
        assert!(text.len() < 300 && !text.contains('\n'), "{text}");
    }
}
