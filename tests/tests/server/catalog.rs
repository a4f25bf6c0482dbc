//! The provider catalog and the schema of configs say what the installed llama-stack says.

use std::path::Path;
use std::process::Command;

use llsd_tests::llama_stack::python;

/// Asserts that a file of the repository is what a script makes of the installed package.
fn assert_made_by(script: &str, arguments: &[&str], file: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python()).arg(tests.join("python").join(script)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made = String::from_utf8(output.stdout).unwrap();
    let kept = std::fs::read_to_string(tests.join("../configs").join(file)).unwrap();
    let at = made.lines().zip(kept.lines()).position(|(new, old)| new != old);
    let line = at.map_or(0, |line| line + 1);
    assert!(made == kept, "configs/{file} differs from line {line}; write it with tests/python/{script}");
}

#[test]
fn the_catalog_is_what_the_installed_llama_stack_says() {
    assert_made_by("make_catalog.py", &["--installed"], "catalog/0.4.7.yaml");
}

#[test]
fn the_schema_is_what_the_installed_llama_stack_says() {
    assert_made_by("make_schema.py", &[], "schema/0.4.7.json");
}
