//! Translation of whole objects between the two versions, without loss.
//!
//! What the other version cannot hold travels in an annotation, as a list of differences: the value that translation
//! alone gives at a place, and the value that belongs there. On the way back a difference is put in only where
//! translation still gives the same value, so that an annotation never overrides what was edited since.

mod fields;
mod fit;
mod kept;

pub(crate) use fields::translate_as;
pub use fields::{V1ALPHA1_TO_V1ALPHA2, translate};
pub(crate) use fit::{Unfit, fill_defaults};
pub use kept::Kept;
pub(crate) use kept::{differences, remove_annotation};

use crate::api::{ApiVersion, KIND};
use serde_json::Value;

/// The annotation with what v1alpha2 cannot hold of a v1alpha1 object.
pub const V1ALPHA1_FIELDS: &str = "llamastack.io/v1alpha1-fields";
/// The annotation with what v1alpha1 cannot hold of a v1alpha2 object.
pub const V1ALPHA2_FIELDS: &str = "llamastack.io/v1alpha2-fields";

/// Why an object was not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// It is something else.
    #[error("expected a {KIND} of llamastack.io/v1alpha1 or v1alpha2, found kind {kind:?} of {api_version:?}")]
    OtherKind {
        /// Its `apiVersion`, empty where it has none.
        api_version: String,
        /// Its `kind`, empty where it has none.
        kind: String,
    },
    /// It was made from an object that has more than the other version can hold, and than an annotation can carry.
    #[error(
        "as {shown} this resource is only a view: the rest of it does not fit into annotations, and would be lost. Edit \
         it as {whole}"
    )]
    View {
        /// The version that it is in.
        shown: ApiVersion,
        /// The version that holds all of it.
        whole: ApiVersion,
    },
}

/// Bytes that all annotations of an object may have together, keys included; the API server refuses more.
const ANNOTATIONS: usize = 256 << 10;
/// What an annotation says where there is more to keep than it can carry.
const TOO_LARGE: &str = "\"too large\"";

/// The object in v1alpha2; a v1alpha2 object comes back as it is.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions; [`ConvertError::View`] for
/// what was converted from an object of the other version that is too large to be converted back.
pub fn to_v1alpha2(object: &Value) -> Result<Value, ConvertError> {
    convert(object, ApiVersion::V1Alpha2)
}

/// The object in v1alpha1; a v1alpha1 object comes back as it is.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions; [`ConvertError::View`] for
/// what was converted from an object of the other version that is too large to be converted back.
pub fn to_v1alpha1(object: &Value) -> Result<Value, ConvertError> {
    convert(object, ApiVersion::V1Alpha1)
}

/// What the annotation of an object holds for the version that the object was converted from: nothing where there is
/// no such annotation, or where somebody else wrote it.
#[must_use]
pub fn kept_for(object: &Value, version: ApiVersion) -> Vec<Kept> {
    kept::read(object, annotation(version))
}

fn annotation(version: ApiVersion) -> &'static str {
    match version {
        ApiVersion::V1Alpha1 => V1ALPHA1_FIELDS,
        ApiVersion::V1Alpha2 => V1ALPHA2_FIELDS,
    }
}

fn convert(object: &Value, target: ApiVersion) -> Result<Value, ConvertError> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(source) = ApiVersion::of(object) else {
        return Err(ConvertError::OtherKind { api_version: text("apiVersion"), kind: text("kind") });
    };
    if source == target {
        return Ok(object.clone());
    }
    if kept::text(object, annotation(target)) == Some(TOO_LARGE) {
        return Err(ConvertError::View { shown: source, whole: target });
    }
    let kept = kept::read(object, annotation(target));
    let mut plain = object.clone();
    if !kept.is_empty() {
        kept::remove_annotation(&mut plain, annotation(target));
    }

    let whole = |unfit| {
        let mut result = complete(&plain, source, target, unfit);
        kept::apply(&kept, &mut result, target);
        if target == ApiVersion::V1Alpha2 {
            prefer_override(&mut result);
        }
        // What would the way back make of it, if nobody edits it? The differences to the original are what is kept.
        let lost = kept::differences(&complete(&result, target, source, unfit), &plain);
        if !lost.is_empty() {
            kept::write(&mut result, annotation(source), &lost);
        }
        result
    };
    let mut result = whole(Unfit::Drop);
    if kept::size_of_annotations(&result) > ANNOTATIONS {
        // The API server would answer no request for it, and none for a list with it. Values beyond the limits of the
        // target stay where they are: whoever edits them is told then.
        result = whole(Unfit::Keep);
    }
    if kept::size_of_annotations(&result) > ANNOTATIONS && kept::text(&result, annotation(source)).is_some() {
        kept::write_text(&mut result, annotation(source), TOO_LARGE.to_owned());
    }
    Ok(result)
}

/// The translation with the defaults of both versions, as the API server would fill them in: so it does not matter
/// whether it already did.
fn complete(object: &Value, source: ApiVersion, target: ApiVersion, unfit: Unfit) -> Value {
    let mut filled = object.clone();
    fit::fill_defaults(&mut filled, source);
    let mut result = translate_as(&filled, target, unfit);
    for name in [V1ALPHA1_FIELDS, V1ALPHA2_FIELDS] {
        kept::remove_annotation(&mut result, name);
    }
    if matches!(&result["metadata"]["annotations"], Value::Null | Value::Object(_))
        && result["metadata"]["annotations"].as_object().is_none_or(serde_json::Map::is_empty)
        && let Some(metadata) = result["metadata"].as_object_mut()
    {
        metadata.shift_remove("annotations");
    }
    fit::fill_defaults(&mut result, target);
    result
}

/// A valid object never has both `overrideConfig` and what it excludes. If both are here, a v1alpha1 client set
/// `userConfig` while the rest waited in the annotation: the edit wins.
fn prefer_override(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if spec.contains_key("overrideConfig") {
        for excluded in ["providers", "resources", "storage", "disabled"] {
            spec.shift_remove(excluded);
        }
    }
}
