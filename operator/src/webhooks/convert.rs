//! The conversion webhook: `ConversionReview` in, `ConversionReview` out.

use super::review::{BadReview, Review};
use llsd_generator::api::ApiVersion;
use llsd_generator::convert::{to_v1alpha1, to_v1alpha2};
use serde_json::{Value, json};

/// Converts all objects of a review, or none: then the answer says which one failed, and why.
pub(crate) fn review(body: &[u8]) -> Result<Value, BadReview> {
    let mut review = Review::read(body, "ConversionReview")?;
    let desired = review.text(["desiredAPIVersion", ""]).to_owned();
    let objects = match review.request.remove("objects") {
        Some(Value::Array(objects)) => objects,
        _ => Vec::new(),
    };
    let response = match convert(&desired, objects) {
        Ok(converted) => json!({"result": {"status": "Success"}, "convertedObjects": converted}),
        Err(message) => {
            tracing::warn!(message, "objects were not converted");
            json!({"result": {"status": "Failure", "message": message}, "convertedObjects": []})
        }
    };
    Ok(review.answer(response))
}

fn convert(desired: &str, objects: Vec<Value>) -> Result<Vec<Value>, String> {
    let into = match ApiVersion::parse(desired) {
        Some(ApiVersion::V1Alpha1) => to_v1alpha1,
        Some(ApiVersion::V1Alpha2) => to_v1alpha2,
        _ => {
            let known = ApiVersion::LLAMA_STACK.map(ApiVersion::api_version).join(" and ");
            return Err(format!("cannot convert to {desired:?}: the versions are {known}"));
        }
    };
    let named = |object: &Value| {
        let part = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", part("namespace"), part("name"))
    };
    objects
        .into_iter()
        .map(|object| into(&object).map_err(|error| format!("object {:?}: {error}", named(&object))))
        .collect()
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
        review(body.to_string().as_bytes()).expect("a review")
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
}
