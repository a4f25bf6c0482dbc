//! Names of texts that are in no file: base configs and generated configs.
//!
//! `llsd-base:/starter/config.yaml` is the base config of a distribution. `llsd-preview:/NAME/config.yaml?QUERY` is the
//! config generated for a resource; the query, percent-decoded once, is `document=N&resource=N&source=URI`. Clients get
//! their texts with `llsd/document` or `workspace/textDocumentContent`, and may ask every question about names and
//! places with these URIs.

use super::convert;
use crate::ide::TextId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::sync::Arc;
use tower_lsp::lsp_types::Url;

/// URI scheme of embedded base configs, as the client's content provider knows it.
pub(super) const BASE: &str = "llsd-base";
/// URI scheme of generated configs, as the client's content provider knows it.
pub(super) const PREVIEW: &str = "llsd-preview";

/// Whether a document is one of this server's own texts.
pub(super) fn is_virtual(name: &str) -> bool {
    name.split(':').next().is_some_and(|scheme| scheme == BASE || scheme == PREVIEW)
}

/// The place that a URI names: a file's for every other scheme. `None` for one of ours that is malformed.
pub(super) fn place(uri: &Url) -> Option<TextId> {
    match uri.scheme() {
        BASE => {
            let distribution = uri.path().trim_start_matches('/').split('/').next()?;
            Some(TextId::Base(decoded(distribution)))
        }
        PREVIEW => {
            let query = decoded(uri.query()?);
            let (numbers, source) = query.split_once("&source=")?;
            let (document, resource) = numbers.split_once("&resource=")?;
            Some(TextId::Preview {
                file: Arc::from(convert::name(&Url::parse(source).ok()?)),
                document: document.strip_prefix("document=")?.parse().ok()?,
                resource: resource.parse().ok()?,
            })
        }
        _ => Some(TextId::File(Arc::from(convert::name(uri)))),
    }
}

/// The URI of a place. `name` is that of the resource, for a preview; it is only there to be read. `spelled` is the URI of
/// a file as the client spells it.
pub(super) fn uri(place: &TextId, name: &str, spelled: impl Fn(&str) -> Option<Url>) -> Option<Url> {
    match place {
        TextId::File(file) => spelled(file),
        TextId::Base(distribution) => Url::parse(&format!("{BASE}:/{}/config.yaml", encoded(distribution))).ok(),
        TextId::Preview { file, document, resource } => {
            let name = if name.is_empty() { "resource" } else { name };
            let file = spelled(file)?;
            let query = encoded(&format!("document={document}&resource={resource}&source={file}"));
            Url::parse(&format!("{PREVIEW}:/{}/config.yaml?{query}", encoded(name))).ok()
        }
    }
}

/// What stays as it is in our URIs: all that has no meaning of its own there, and what the query is read by.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/')
    .remove(b':')
    .remove(b'=')
    .remove(b'&');

/// Escapes what has a meaning of its own in a URI, so that decoding gives the text back.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(file: &str) -> Option<Url> {
        Url::parse(file).ok()
    }

    #[test]
    fn a_uri_leads_back_to_its_place() {
        for file in
            ["file:///w/a%20b/r.yaml", "file:///w/a&b%23c.yaml", "untitled:Untitled-1", "file:///w/%E2%82%AC.yaml"]
        {
            let place = TextId::Preview { file: file.into(), document: 3, resource: 1 };
            assert_eq!(super::place(&uri(&place, "de mo", spelled).unwrap()), Some(place));
        }
        let base = TextId::Base("starter".to_owned());
        assert_eq!(uri(&base, "", spelled).unwrap().as_str(), "llsd-base:/starter/config.yaml");
        assert_eq!(place(&uri(&base, "", spelled).unwrap()), Some(base));
        for malformed in ["llsd-preview:/a/config.yaml", "llsd-preview:/a?document=x&resource=0&source=y", "llsd-base:"]
        {
            let found = place(&Url::parse(malformed).unwrap());
            assert!(found.is_none() || found == Some(TextId::Base(String::new())), "{malformed}");
        }
        assert!(is_virtual("llsd-base:/starter/config.yaml") && !is_virtual("file:///llsd-base:"));
    }

    #[test]
    fn an_editor_may_escape_more() {
        let uri = Url::parse(
            "llsd-preview:/demo/config.yaml?document%3D0%26resource%3D2%26source%3Dfile%3A%2F%2F%2Fw%2Fa%2520b.yaml",
        );
        let place = TextId::Preview { file: "file:///w/a%20b.yaml".into(), document: 0, resource: 2 };
        assert_eq!(super::place(&uri.unwrap()), Some(place));
    }
}
