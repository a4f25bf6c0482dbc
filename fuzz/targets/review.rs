//! Reviews as anybody in a cluster can send them to the webhooks.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llsd_operator::webhooks::{CONVERT_PATH, VALIDATE_OGX_PATH, VALIDATE_PATH, answer};
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    for path in [CONVERT_PATH, VALIDATE_PATH, VALIDATE_OGX_PATH] {
        let _ = answer(path, text.as_bytes());
    }
    // And with what the API server puts around objects of anybody.
    for object in llsd_fuzz::values(text) {
        for version in ["llamastack.io/v1alpha1", "llamastack.io/v1alpha2"] {
            let request = json!({"uid": "u", "desiredAPIVersion": version, "objects": [object]});
            let review = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request});
            let answered = answered(CONVERT_PATH, &review);
            let converted = &answered["response"]["convertedObjects"];
            if answered["response"]["result"]["status"] == "Success" {
                assert_eq!(converted[0]["apiVersion"], version);
                // The API server sends none without metadata; what is kept of one needs a place.
                if object["metadata"].is_object() {
                    assert_eq!(identity(&converted[0]), identity(&object), "{object:#}");
                }
            }
        }
        // As it is, and under the name of the other kind: whatever an OGXServer holds.
        let mut ogx = object.clone();
        if let Some(fields) = ogx.as_object_mut() {
            fields.insert("apiVersion".to_owned(), json!("ogx.io/v1beta1"));
            fields.insert("kind".to_owned(), json!("OGXServer"));
        }
        for (path, object) in [(VALIDATE_PATH, &object), (VALIDATE_OGX_PATH, &object), (VALIDATE_OGX_PATH, &ogx)] {
            for operation in ["CREATE", "UPDATE"] {
                let old = (operation == "UPDATE").then(|| json!({"spec": {}}));
                let request = json!({"uid": "u", "operation": operation, "object": object, "oldObject": old});
                let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
                let answered = answered(path, &review);
                assert!(answered["response"]["allowed"].is_boolean());
                assert!(answered.to_string().len() < 1 << 20);
            }
        }
    }
});

/// What is answered to a review that is one.
fn answered(path: &str, review: &Value) -> Value {
    let text = answer(path, review.to_string().as_bytes()).expect("a review");
    serde_json::from_str(&text).expect("an answer")
}

/// What a conversion must leave alone.
fn identity(object: &Value) -> Value {
    let mut metadata = object["metadata"].clone();
    if let Some(fields) = metadata.as_object_mut() {
        fields.shift_remove("annotations");
    }
    json!([object["kind"], metadata])
}
