//! Valid objects made from a version's schema: any optional field may be there, any bound may be touched.

use llsd_generator::api::{ApiVersion, crd};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any valid object of a version.
pub(crate) fn object(version: ApiVersion) -> impl Strategy<Value = Value> {
    vec(any::<u32>(), 400).prop_map(move |choices| {
        let mut source = Choices { choices, next: 0 };
        let mut object = json!({
            "apiVersion": version.api_version(),
            "kind": "LlamaStackDistribution",
            "metadata": {"name": "a", "namespace": "b", "generation": 2},
        });
        match source.pick(4) {
            0 => object["metadata"]["annotations"] = json!({}),
            1 => object["metadata"]["annotations"] = json!({"example.com/a": "b"}),
            2 => object["metadata"]["labels"] = json!({"app": "x"}),
            _ => {}
        }
        let fields = &crd::schema(version)["properties"];
        object["spec"] = source.value(&fields["spec"], 0);
        if source.pick(2) == 0 {
            object["status"] = source.value(&fields["status"], 0);
        }
        make_valid(&mut object, version);
        object
    })
}

/// A stream of choices; when it ends, the smallest choice is taken each time.
struct Choices {
    choices: Vec<u32>,
    next: usize,
}

impl Choices {
    fn pick(&mut self, count: u32) -> u32 {
        let choice = self.choices.get(self.next).copied().unwrap_or(count - 1);
        self.next += 1;
        choice % count
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(values) = schema["enum"].as_array() {
            return values[self.pick(values.len() as u32) as usize].clone();
        }
        if schema["x-kubernetes-int-or-string"] == true {
            return [json!(1), json!("50"), json!("2")][self.pick(3) as usize].clone();
        }
        if schema["x-kubernetes-preserve-unknown-fields"] == true {
            return [json!({}), json!({"a": {"b": [1, {"c": "d"}]}}), json!({"url": "http://x", "n": 1.5})]
                [self.pick(3) as usize]
                .clone();
        }
        match schema["type"].as_str() {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let least = schema["minItems"].as_u64().unwrap_or(0) as u32;
                let count = least + self.pick(3);
                // Two items could have one key.
                let count = if schema["x-kubernetes-list-type"] == "map" { count.min(1) } else { count };
                (0..count).map(|_| self.value(&schema["items"], depth + 1)).collect()
            }
            Some("integer") => {
                let least = schema["minimum"].as_f64().map_or(-1, |least| least as i64);
                let most = schema["maximum"].as_f64().map_or(70_000, |most| most as i64);
                json!([least, (least + 1).min(most), most][self.pick(3) as usize])
            }
            Some("boolean") => json!(self.pick(2) == 0),
            _ if schema["format"] == "date-time" => json!("2026-01-02T03:04:05Z"),
            _ => {
                let words: &[&str] = if schema["minLength"] == 1 || schema.get("pattern").is_some() {
                    &["a", "b2", "vllm"]
                } else {
                    &["", "a", "vllm", "k=v"]
                };
                json!(words[self.pick(words.len() as u32) as usize])
            }
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut fields = Map::new();
        if let Some(values) = schema.get("additionalProperties") {
            let least = schema["minProperties"].as_u64().unwrap_or(0) as u32;
            for number in 0..least + self.pick(2) {
                fields.insert(format!("key-{number}"), self.value(values, depth + 1));
            }
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            // Deep inside Kubernetes' own types the fields are too many to take each with equal chance.
            let chance = if depth < 3 { 2 } else { 2 + depth as u32 };
            if required.contains(&name.as_str()) || self.pick(chance) == 0 {
                fields.insert(name.clone(), self.value(field, depth + 1));
            }
        }
        Value::Object(fields)
    }
}

/// Mends what the rules between fields ask for.
fn make_valid(object: &mut Value, version: ApiVersion) {
    let remove = |place: &mut Value, name: &str| {
        if let Some(fields) = place.as_object_mut() {
            fields.remove(name);
        }
    };
    let spec = &mut object["spec"];
    match version {
        ApiVersion::V1Alpha1 => {
            let distribution = &mut spec["server"]["distribution"];
            if distribution.get("image").is_some() {
                remove(distribution, "name");
            }
        }
        _ => {
            if spec["distribution"].get("image").is_some() {
                remove(&mut spec["distribution"], "name");
            } else {
                spec["distribution"] = json!({"name": "starter"});
            }
            if spec.get("overrideConfig").is_some() {
                for name in ["providers", "resources", "storage", "disabled"] {
                    remove(spec, name);
                }
            }
            if spec.get("providers").is_some() {
                remove(spec, "disabled");
            }
            let mut number = 0;
            for list in ["providers", "externalProviders"] {
                for (_, providers) in spec.get_mut(list).and_then(Value::as_object_mut).into_iter().flatten() {
                    for provider in providers.as_array_mut().into_iter().flatten() {
                        number += 1;
                        let id = if list == "providers" { "id" } else { "providerId" };
                        provider[id] = json!(format!("p{number}"));
                    }
                }
            }
            if spec.get("storage").is_some() {
                spec["storage"] = json!({
                    "kv": {"type": "redis", "endpoint": "redis:6379"},
                    "sql": {"type": "sqlite"},
                });
            }
            if let Some(tls) = spec.get_mut("networking").and_then(|networking| networking.get_mut("tls")) {
                remove(tls, "secretName");
                if tls.get("enabled") == Some(&json!(true)) {
                    tls["secretName"] = json!("s");
                }
            }
            if let Some(workload) = spec.get_mut("workload") {
                if let Some(scaling) = workload.get_mut("autoscaling") {
                    scaling["maxReplicas"] = json!(3);
                    if scaling.get("minReplicas").is_some() {
                        scaling["minReplicas"] = json!(2);
                    }
                }
                if workload.get("podDisruptionBudget").is_some() {
                    workload["podDisruptionBudget"] = json!({"minAvailable": "50%"});
                }
            }
        }
    }
    if object["status"].is_null() {
        remove(object, "status");
    }
}
