//! Translation of whole objects between the two versions, without loss.
//!
//! What the other version cannot hold travels in an annotation, as a list of differences: the value that translation
//! alone gives at a place, and the value that belongs there. On the way back a difference is put in only where
//! translation still gives the same value, so that an annotation never overrides what was edited since.

mod fields;
mod fit;
#[cfg(test)]
mod hostile;
mod kept;

pub use fields::{V1ALPHA1_TO_V1ALPHA2, translate};
pub(crate) use fields::{set, translate_as};
pub(crate) use fit::{Unfit, fill_defaults};
pub use kept::PreservedField;
pub(crate) use kept::{differences, remove_annotation};

use crate::api::{ApiVersion, KIND, Kind};
use serde_json::{Value, json};

/// The annotation with what v1alpha2 cannot hold of a v1alpha1 object.
pub const V1ALPHA1_FIELDS: &str = "llamastack.io/v1alpha1-fields";
/// The annotation with what v1alpha1 cannot hold of a v1alpha2 object.
pub const V1ALPHA2_FIELDS: &str = "llamastack.io/v1alpha2-fields";

/// Why an object was not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The object is not of a group, kind and version that this converts.
    #[error("expected a {KIND} of llamastack.io/v1alpha1 or v1alpha2, found kind {kind:?} of {api_version:?}")]
    OtherKind {
        /// Its `apiVersion`, empty where it has none.
        api_version: String,
        /// Its `kind`, empty where it has none.
        kind: String,
    },
}

/// Bytes that all annotations of an object may have together, keys included; the API server refuses more.
const ANNOTATIONS: usize = 256 << 10;
/// Bytes of annotations that are left to say at least that there is more than can be kept.
const RESERVED: usize = 128;
/// What an annotation says where there is more to keep than it can carry.
const TOO_LARGE: &str = "\"too large\"";

/// The object in v1alpha2; a v1alpha2 object comes back as it is.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions. Whatever an object of the
/// resource holds, it is converted: the API server answers no list with an object that is not.
pub fn to_v1alpha2(object: &Value) -> Result<Value, ConvertError> {
    convert(object, ApiVersion::V1Alpha2)
}

/// The object in v1alpha1; a v1alpha1 object comes back as it is.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions. Whatever an object of the
/// resource holds, it is converted: the API server answers no list with an object that is not.
pub fn to_v1alpha1(object: &Value) -> Result<Value, ConvertError> {
    convert(object, ApiVersion::V1Alpha1)
}

/// What the annotation of an object holds for the version that the object was converted from: nothing where there is
/// no such annotation, or where somebody else wrote it.
#[must_use]
pub fn kept_for(object: &Value, version: ApiVersion) -> Vec<PreservedField> {
    kept::read(object, annotation(version))
}

fn annotation(version: ApiVersion) -> &'static str {
    match version {
        ApiVersion::V1Alpha1 => V1ALPHA1_FIELDS,
        _ => V1ALPHA2_FIELDS,
    }
}

fn convert(object: &Value, target: ApiVersion) -> Result<Value, ConvertError> {
    let source = source(object)?;
    if source == target {
        return Ok(object.clone());
    }
    let is_view = kept::text(object, annotation(target)) == Some(TOO_LARGE);
    let kept = kept::read(object, annotation(target));
    let mut plain = object.clone();
    if is_view || !kept.is_empty() {
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
    if is_view {
        // Whoever stores it is told by the admission webhook. Whoever only reads it, or a list with it, gets an answer:
        // anybody can write this text into an annotation.
        kept::write_text(&mut result, annotation(target), TOO_LARGE.to_owned());
    }
    if kept::size_of_annotations(&result) > ANNOTATIONS {
        // Others' annotations leave no room for a word. They are refused when they are written, but may be older.
        kept::remove_annotation(&mut result, annotation(source));
        kept::remove_annotation(&mut result, annotation(target));
    }
    Ok(result)
}

/// What stands for an object that is too large to be read whole: it is a view, with an empty spec. Of `object` its version,
/// its kind and its annotations are enough.
///
/// # Errors
/// [`ConvertError::OtherKind`] for anything that is not the resource in one of its versions.
pub fn unread(object: &Value, target: ApiVersion) -> Result<Value, ConvertError> {
    let mut bare = json!({"spec": {}});
    for field in ["apiVersion", "kind", "metadata"] {
        bare[field] = object.get(field).cloned().unwrap_or_default();
    }
    let source = source(&bare)?;
    bare["apiVersion"] = json!(target.api_version());
    kept::remove_annotation(&mut bare, annotation(target));
    kept::write_text(&mut bare, annotation(source), TOO_LARGE.to_owned());
    if kept::size_of_annotations(&bare) > ANNOTATIONS {
        kept::remove_annotation(&mut bare, annotation(source));
    }
    Ok(bare)
}

/// The version of an object of the resource.
fn source(object: &Value) -> Result<ApiVersion, ConvertError> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    ApiVersion::of(object)
        .filter(|version| version.kind() == Kind::LlamaStackDistribution)
        .ok_or_else(|| ConvertError::OtherKind { api_version: text("apiVersion"), kind: text("kind") })
}

/// What is wrong with the annotations of an object that is about to be stored: it would be read otherwise than it was
/// written, or part of it would be lost. `None` if nothing is.
#[must_use]
pub fn annotation_fault(object: &Value) -> Option<AnnotationFault> {
    let version = ApiVersion::of(object)?;
    for (annotation, whole) in [(V1ALPHA1_FIELDS, ApiVersion::V1Alpha1), (V1ALPHA2_FIELDS, ApiVersion::V1Alpha2)] {
        let Some(text) = kept::text(object, annotation) else { continue };
        if text == TOO_LARGE {
            let is_unread = object.get("spec") == Some(&json!({}));
            return Some(if is_unread { AnnotationFault::Unread { whole } } else { AnnotationFault::View { whole } });
        }
        // One that a conversion could not read travels inside the other one.
        if kept::parse(text).is_none_or(|all| whole != version && all.iter().any(PreservedField::is_of_annotation)) {
            return Some(AnnotationFault::Foreign { annotation });
        }
    }
    let size = kept::size_of_annotations(object);
    (size > ANNOTATIONS - RESERVED).then_some(AnnotationFault::Full { size, most: ANNOTATIONS - RESERVED })
}

/// Why the annotations of an object must not be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationFault {
    /// It was read in a version that cannot hold all of it, and an annotation cannot either.
    #[error(
        "this resource is only a view of the one in {whole}: the rest of it does not fit into annotations, and would be \
         lost. Edit it as {whole}"
    )]
    View {
        /// The version that holds all of it.
        whole: ApiVersion,
    },
    /// Its spec was not even read.
    #[error(
        "the spec of this resource is too large to be converted from {whole}: it has too many values, or too many inside of \
         each other. Make it smaller, or edit it as {whole}"
    )]
    Unread {
        /// The version that holds all of it.
        whole: ApiVersion,
    },
    /// One of the annotations in which fields of the other version are kept has another text.
    #[error(
        "the annotation {annotation} belongs to the conversion between the versions, which did not write this value: remove \
         it"
    )]
    Foreign {
        /// The key of the annotation.
        annotation: &'static str,
    },
    /// They leave no room for what is kept of the other version.
    #[error("the annotations have {size} bytes; at most {most} leave room for what is kept of the other version")]
    Full {
        /// Bytes of all keys and values.
        size: usize,
        /// How many there may be.
        most: usize,
    },
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
