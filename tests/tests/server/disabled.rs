//! Whatever a resource disables: either it is told what stands in the way, or llama-stack accepts the config.

use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_tests::llama_stack::VERSION;
use serde_json::{Value, json};

use crate::server::configs::assert_accepted;
use crate::server::samples::try_generate;

#[test]
fn a_config_without_some_apis_is_accepted_or_refused_with_a_reason() {
    let (mut configs, mut refused) = (Vec::new(), Vec::new());
    for found in Distributions::embedded().iter() {
        let base: Value = serde_yaml::from_str(BaseConfig::embedded(&found.name).unwrap()).unwrap();
        let apis: Vec<&str> = base["apis"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        // One API, two APIs, and all but one.
        let mut sets: Vec<Vec<&str>> = Vec::new();
        for (place, first) in apis.iter().enumerate() {
            sets.push(vec![first]);
            sets.extend(apis[place + 1..].iter().map(|second| vec![*first, *second]));
            sets.push(apis.iter().copied().filter(|api| api != first).collect());
        }
        for disabled in sets {
            let name = format!("{} without {}", found.name, disabled.join(", "));
            let resource = json!({
                "apiVersion": "llamastack.io/v1alpha2",
                "kind": "LlamaStackDistribution",
                "metadata": {"name": "subject"},
                "spec": {"distribution": {"name": found.name}, "disabled": disabled},
            });
            match try_generate(&resource) {
                Ok(config) => configs.push((name, config.unwrap().config.text().to_owned())),
                Err(reason) => refused.push((name, reason)),
            }
        }
    }
    for (name, reason) in &refused {
        assert!(reason.contains("requires") || reason.contains("needs"), "{name}: {reason}");
    }
    assert!(configs.len() > 20 && refused.len() > 20, "{} accepted, {} refused", configs.len(), refused.len());
    assert_accepted(VERSION, &configs);
}
