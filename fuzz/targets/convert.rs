//! Conversion between the versions, and back: what is valid comes back as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llsd_generator::api::ApiVersion;
use llsd_generator::check::facts::Facts;
use llsd_generator::check::finding::Severity;
use llsd_generator::check::{Request, verdict};
use llsd_generator::convert::{to_v1alpha1, to_v1alpha2};
use llsd_generator::fold::migrate;
use std::collections::BTreeSet;

fuzz_target!(|text: &str| {
    for value in llsd_fuzz::values(text) {
        let (facts, unknown) = (Facts::default(), BTreeSet::new());
        let _ = migrate(&value, &facts);
        let (there, back): (fn(_) -> _, fn(_) -> _) = match ApiVersion::of(&value) {
            Some(ApiVersion::V1Alpha1) => (to_v1alpha2, to_v1alpha1),
            _ => (to_v1alpha1, to_v1alpha2),
        };
        let Some(version) = ApiVersion::of(&value) else {
            let _ = (there(&value), back(&value));
            continue;
        };
        let outcome = verdict(&Request { version, value: &value, old: None, unknown: &unknown, facts: &facts });
        let valid = outcome.findings.iter().all(|finding| finding.severity != Severity::Error);
        match there(&value) {
            Ok(other) => {
                let returned = back(&other);
                assert!(
                    !valid || returned.as_ref().is_ok_and(|same| *same == value),
                    "{value:#}\n{other:#}\n{returned:#?}"
                );
            }
            Err(error) => assert!(!valid, "{error}"),
        }
    }
});
