//! What registries and pull secrets can hold: layers and Docker configs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llsd_operator::oci::{Limits, file_in_layer, parse_docker_config};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { config: 4096, unpacked: 1 << 20, ..Limits::default() };
    if let Ok(Some(found)) = file_in_layer(bytes, "config.yaml", &limits) {
        assert!(found.len() <= limits.config);
    }
    if let Err(error) = parse_docker_config(bytes) {
        // Secrets are not quoted, but for what reads as a registry.
        assert!(error.to_string().len() < 512);
    }
});
