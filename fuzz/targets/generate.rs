//! Values to configs: the same value gives the same bytes, which are well-formed, with an origin for each line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llsd_generator::api::ApiVersion;
use llsd_generator::check::facts::Facts;
use llsd_generator::check::{Request, verdict};
use std::collections::BTreeSet;

fuzz_target!(|text: &str| {
    for value in llsd_fuzz::values(text) {
        let (facts, unknown) = (Facts::default(), BTreeSet::new());
        let judge = |version| verdict(&Request { version, value: &value, old: None, unknown: &unknown, facts: &facts });
        let _ = judge(ApiVersion::V1Alpha1);
        let first = judge(ApiVersion::V1Alpha2);
        if let Some(made) = first.generated {
            assert!(llsd_yaml::parse_document(made.config.text()).strict_error().is_none(), "{}", made.config.text());
            assert_eq!(made.config.text().lines().count(), made.config.lines().len());
            let again = judge(ApiVersion::V1Alpha2).generated.map(|made| made.config.text().to_owned());
            assert_eq!(again.as_deref(), Some(made.config.text()));
        }
    }
});
