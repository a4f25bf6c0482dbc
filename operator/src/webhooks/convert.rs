//! The conversion webhook: `ConversionReview` in, `ConversionReview` out.
//!
//! The API server answers no list with an object that was not converted, so every object of the resource is, whatever is
//! stored in it. Of each only what conversion looks at is read. What else is in its metadata stays the text that it was,
//! and of a spec that would take too much memory or stack a view is answered, without it.

use super::review::BadReview;
use crate::extent::Extent;
use llsd_generator::api::ApiVersion;
use llsd_generator::convert::{to_v1alpha1, to_v1alpha2, unread};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;

const KIND: &str = "ConversionReview";
/// Entries of an object, and of its metadata, at most: the API server lets through only the few that it knows.
const ENTRIES: usize = 1_000;

#[derive(Deserialize)]
struct Review<'r> {
    #[serde(rename = "apiVersion", borrow, default)]
    api_version: Option<&'r RawValue>,
    #[serde(borrow, default)]
    kind: Option<&'r RawValue>,
    #[serde(borrow, default)]
    request: Option<&'r RawValue>,
}

#[derive(Deserialize)]
struct Request<'r> {
    #[serde(borrow, default)]
    uid: Option<&'r RawValue>,
    #[serde(rename = "desiredAPIVersion", borrow, default)]
    desired: Option<&'r RawValue>,
    #[serde(borrow, default)]
    objects: Option<&'r RawValue>,
}

#[derive(Serialize)]
struct Answer<'r> {
    #[serde(rename = "apiVersion")]
    api_version: Option<&'r RawValue>,
    kind: &'r str,
    response: Response<'r>,
}

#[derive(Serialize)]
struct Response<'r> {
    result: Value,
    #[serde(rename = "convertedObjects")]
    objects: Vec<Box<RawValue>>,
    uid: Option<&'r RawValue>,
}

/// Converts all objects of a review, or none: then the answer says which one failed, and why.
pub(crate) fn review(body: &[u8]) -> Result<String, BadReview> {
    let Review { api_version, kind, request } = serde_json::from_slice(body)?;
    let kind = text(kind);
    let request = request.filter(|raw| kind == KIND && raw.get().starts_with('{'));
    let Some(request) = request else { return Err(BadReview::NoRequest { expected: KIND, found: kind }) };
    let Request { uid, desired, objects } = serde_json::from_str(request.get())?;
    let desired = text(desired);
    let target = ApiVersion::parse(&desired).filter(|version| ApiVersion::LLAMA_STACK.contains(version));
    let converted = match target {
        Some(version) => convert(objects, version)?,
        None => {
            let known = ApiVersion::LLAMA_STACK.map(ApiVersion::api_version).join(" and ");
            Err(format!("cannot convert to {desired:?}: the versions are {known}"))
        }
    };
    let (result, objects) = match converted {
        Ok(objects) => (json!({"status": "Success"}), objects),
        Err(message) => {
            tracing::warn!(message, "objects were not converted");
            (json!({"status": "Failure", "message": message}), Vec::new())
        }
    };
    let answer = Answer { api_version, kind: KIND, response: Response { result, objects, uid } };
    Ok(serde_json::to_string(&answer)?)
}

/// A text as short as a name; empty where there is something else.
fn text(raw: Option<&RawValue>) -> String {
    let short = raw.filter(|raw| raw.get().len() < 1_000);
    short.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

type Converted = Result<Vec<Box<RawValue>>, String>;

fn convert(objects: Option<&RawValue>, target: ApiVersion) -> Result<Converted, BadReview> {
    let Some(list) = objects.filter(|raw| raw.get().starts_with('[')) else { return Ok(Ok(Vec::new())) };
    Ok(Objects(target).deserialize(&mut serde_json::Deserializer::from_str(list.get()))?)
}

/// Converts the objects of a list to a version, one after the other: no more than one of them is in memory as values.
struct Objects(ApiVersion);

impl<'de> DeserializeSeed<'de> for Objects {
    type Value = Converted;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Converted, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Objects {
    type Value = Converted;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Converted, A::Error> {
        let mut converted = Vec::new();
        while let Some(raw) = list.next_element::<&RawValue>()? {
            match object(raw, self.0) {
                Ok(object) => converted.push(object),
                Err(message) => {
                    while list.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(Err(message));
                }
            }
        }
        Ok(Ok(converted))
    }
}

type Fields<'r> = BTreeMap<String, &'r RawValue>;

/// What an object has, unread; nothing where it is none.
fn fields(raw: &RawValue) -> Fields<'_> {
    let is_object = Extent::of(raw.get().as_bytes()).entries <= ENTRIES;
    is_object.then(|| serde_json::from_str(raw.get()).ok()).flatten().unwrap_or_default()
}

/// One object, converted; the error says which one it is.
fn object(raw: &RawValue, target: ApiVersion) -> Result<Box<RawValue>, String> {
    let mut read = fields(raw);
    let metadata = read.get("metadata").filter(|raw| raw.get().starts_with('{')).copied();
    if metadata.is_some() {
        read.remove("metadata");
    }
    let mut metadata = metadata.map(fields);
    let named = |field: &str| text(metadata.as_ref().and_then(|fields| fields.get(field).copied()));
    let name = format!("{}/{}", named("namespace"), named("name"));
    // More of them than the API server lets through are left as they are, too.
    let annotations = metadata.as_mut().and_then(|fields| {
        let is_readable = Extent::of(fields.get("annotations")?.get().as_bytes()).is_readable();
        is_readable.then(|| fields.remove("annotations"))?
    });
    let extents: Vec<_> = read.values().map(|raw| Extent::of(raw.get().as_bytes())).collect();
    let values = extents.iter().map(|extent| extent.values).sum();
    let is_readable = extents.iter().all(Extent::is_readable) && Extent { values, ..Extent::default() }.is_readable();
    if !is_readable {
        read.retain(|name, _| ["apiVersion", "kind"].contains(&name.as_str()));
    }
    let mut known: Map<_, _> = read.into_iter().map(|(name, raw)| (name, value(raw))).collect();
    if metadata.is_some() {
        // Empty where there are no annotations: what is kept of an object must not speak of other metadata.
        let annotations = annotations.map(|raw| ("annotations".to_owned(), value(raw)));
        known.insert("metadata".to_owned(), Value::Object(annotations.into_iter().collect()));
    }
    let known = Value::Object(known);
    if ApiVersion::of(&known) == Some(target) {
        return Ok(raw.to_owned());
    }
    let converted = match target {
        _ if !is_readable => unread(&known, target),
        ApiVersion::V1Alpha1 => to_v1alpha1(&known),
        _ => to_v1alpha2(&known),
    };
    let told = |error: &dyn fmt::Display| format!("object {name:?}: {error}");
    let converted = converted.map_err(|error| told(&error))?;
    to_raw_value(&Whole { converted: &converted, metadata: metadata.as_ref() }).map_err(|error| told(&error))
}

fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// A converted object with what its metadata holds beside annotations.
struct Whole<'o> {
    converted: &'o Value,
    metadata: Option<&'o Fields<'o>>,
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.converted.as_object().into_iter().flatten() {
            if name != "metadata" || !value.is_object() {
                map.serialize_entry(name, value)?;
            }
        }
        if self.metadata.is_some() || self.converted["metadata"].is_object() {
            map.serialize_entry("metadata", &Metadata(self))?;
        }
        map.end()
    }
}

struct Metadata<'o>(&'o Whole<'o>);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, raw) in self.0.metadata.into_iter().flatten() {
            map.serialize_entry(name, raw)?;
        }
        let annotations = &self.0.converted["metadata"]["annotations"];
        if !annotations.is_null() && self.0.metadata.is_none_or(|fields| !fields.contains_key("annotations")) {
            map.serialize_entry("annotations", annotations)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(desired: &str, objects: Value) -> Value {
        let body = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": "u-1", "desiredAPIVersion": desired, "objects": objects},
        });
        serde_json::from_str(&review(body.to_string().as_bytes()).expect("a review")).expect("an answer")
    }

    fn object(version: &str, spec: Value) -> Value {
        json!({
            "apiVersion": format!("llamastack.io/{version}"),
            "kind": "LlamaStackDistribution",
            "metadata": {"name": "a", "namespace": "b"},
            "spec": spec,
        })
    }

    #[test]
    fn a_list_keeps_its_order() {
        let older = object("v1alpha1", json!({"replicas": 1, "server": {"distribution": {"name": "starter"}}}));
        let newer = object("v1alpha2", json!({"distribution": {"name": "remote-vllm"}}));
        let answer = converted("llamastack.io/v1alpha2", json!([older, newer, older]));
        assert_eq!(answer["kind"], "ConversionReview");
        assert_eq!(answer["response"]["uid"], "u-1");
        assert_eq!(answer["response"]["result"]["status"], "Success");
        let names: Vec<_> = answer["response"]["convertedObjects"]
            .as_array()
            .expect("objects")
            .iter()
            .map(|object| object["spec"]["distribution"]["name"].as_str().expect("a name"))
            .collect();
        assert_eq!(names, ["starter", "remote-vllm", "starter"]);
    }

    #[test]
    fn failures_are_answers() {
        let good = object("v1alpha2", json!({"distribution": {"name": "starter"}}));
        let cases = [
            ("llamastack.io/v1beta1", json!([good]), "cannot convert to \"llamastack.io/v1beta1\""),
            (
                "llamastack.io/v1alpha1",
                json!([good, {"kind": "Pod"}]),
                "object \"/\": expected a LlamaStackDistribution",
            ),
            ("llamastack.io/v1alpha1", json!([good, 7]), "expected a LlamaStackDistribution"),
            ("llamastack.io/v1alpha1", json!([good, null]), "expected a LlamaStackDistribution"),
            ("llamastack.io/v1alpha1", json!([object("v1", json!({}))]), "object \"b/a\""),
        ];
        for (desired, objects, expected) in cases {
            let response = &converted(desired, objects)["response"];
            assert_eq!(response["result"]["status"], "Failure");
            assert_eq!(response["convertedObjects"], json!([]));
            let message = response["result"]["message"].as_str().expect("a message");
            assert!(message.contains(expected), "{message}");
        }
        assert_eq!(converted("llamastack.io/v1alpha1", json!("x"))["response"]["result"]["status"], "Success");
        assert!(review(b"{").is_err());
        assert!(review(b"[]").is_err());
        assert!(review(br#"{"kind":"ConversionReview"}"#).is_err());
        assert!(review(br#"{"kind":"AdmissionReview","request":{}}"#).is_err());
    }

    #[test]
    fn what_the_other_version_cannot_hold_comes_back() {
        let spec = json!({
            "replicas": 2,
            "server": {
                "distribution": {"name": "starter"},
                "containerSpec": {"name": "mine", "port": 8400},
                "userConfig": {"configMapName": "config", "configMapNamespace": "b"},
            },
        });
        for annotations in [None, Some(json!({"mine": "yes"}))] {
            let mut older = object("v1alpha1", spec.clone());
            older["metadata"]["labels"] = json!({"team": "a"});
            if let Some(annotations) = annotations {
                older["metadata"]["annotations"] = annotations;
            }
            let there = &converted("llamastack.io/v1alpha2", json!([older]))["response"]["convertedObjects"][0];
            assert_eq!(llsd_generator::convert::annotation_fault(there), None, "{there}");
            assert!(there["metadata"]["annotations"]["llamastack.io/v1alpha1-fields"].is_string(), "{there}");
            let back = &converted("llamastack.io/v1alpha1", json!([there]))["response"]["convertedObjects"][0];
            assert_eq!(*back, older);
        }
    }

    /// Anybody may put so much into finalizers, owners and managed fields of a resource of his own, and is not asked about it.
    #[test]
    fn metadata_that_nobody_looks_at_stops_no_list() {
        let many = vec!["a"; 400_000];
        let labels: Map<_, _> = (0..200_000).map(|at| (format!("l{at}"), json!(""))).collect();
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!({ "f:a": deep });
        }
        let metadata = json!({
            "name": "a", "namespace": "b", "uid": "u", "finalizers": many, "labels": labels,
            "managedFields": [{"manager": "m", "fieldsV1": deep}], "annotations": {"mine": "yes"},
        });
        let body = format!(
            r#"{{"kind":"{KIND}","request":{{"uid":"u-1","desiredAPIVersion":"llamastack.io/v1alpha1","objects":[{}]}}}}"#,
            json!({
                "apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "metadata": metadata,
                "spec": {"distribution": {"name": "starter"}},
            })
        );
        let answer = review(body.as_bytes()).expect("a review");
        assert!(answer.contains(r#""server":{"distribution":{"name":"starter"}"#));
        for name in ["finalizers", "labels", "managedFields"] {
            assert!(answer.contains(&format!(r#""{name}":{}"#, metadata[name])), "{name} is another");
        }
        assert!(answer.contains(r#""annotations":{"mine":"yes"}"#) && answer.contains(r#""uid":"u-1""#));
    }

    /// It was stored before such a spec was refused.
    #[test]
    fn a_spec_that_cannot_be_read_is_answered_as_a_view() {
        let mut deep = json!(1);
        for _ in 0..126 {
            deep = json!({ "a": deep });
        }
        for spec in [json!({"a": vec![0; 400_000]}), json!({ "a": deep })] {
            let body = format!(
                r#"{{"kind":"{KIND}","request":{{"desiredAPIVersion":"llamastack.io/v1alpha1","objects":[{}]}}}}"#,
                json!({
                    "apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution",
                    "metadata": {"name": "a", "namespace": "b", "uid": "u"}, "spec": spec,
                })
            );
            let answer = review(body.as_bytes()).expect("a review");
            let answer: Value = serde_json::from_str(&answer).expect("an answer");
            assert_eq!(answer["response"]["result"]["status"], "Success");
            let view = &answer["response"]["convertedObjects"][0];
            assert_eq!(view["apiVersion"], "llamastack.io/v1alpha1");
            assert_eq!(view["metadata"]["uid"], "u");
            assert_eq!(view["spec"], json!({}));
            let fault = llsd_generator::convert::annotation_fault(view).expect("it must not be stored").to_string();
            assert!(fault.contains("too large to be converted from v1alpha2"), "{fault}");
        }
        // As it is stored, it is left as it is.
        let same = converted("llamastack.io/v1alpha2", json!([object("v1alpha2", json!({"a": vec![0; 400_000]}))]));
        assert_eq!(same["response"]["convertedObjects"][0]["spec"]["a"].as_array().map(Vec::len), Some(400_000));
    }

    #[test]
    fn what_is_no_object_is_not_read_at_all() {
        let many: Map<_, _> = (0..2_000).map(|at| (format!("f{at}"), json!(0))).collect();
        for objects in [json!([many]), json!([vec![0; 400_000]]), json!([[[]]])] {
            assert_eq!(converted("llamastack.io/v1alpha1", objects)["response"]["result"]["status"], "Failure");
        }
    }
}
