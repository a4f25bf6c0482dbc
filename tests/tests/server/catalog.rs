//! The provider catalog says what the installed llama-stack says.

use std::path::Path;
use std::process::Command;

use llsd_tests::llama_stack::python;

#[test]
fn the_catalog_is_what_the_installed_llama_stack_says() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python()).arg(tests.join("python/make_catalog.py")).arg("--installed").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made = String::from_utf8(output.stdout).unwrap();
    let kept = std::fs::read_to_string(tests.join("../configs/catalog/0.4.7.yaml")).unwrap();
    let at = made.lines().zip(kept.lines()).position(|(new, old)| new != old);
    assert!(
        made == kept,
        "configs/catalog/0.4.7.yaml differs from line {}; write it with tests/python/make_catalog.py --installed",
        at.map_or(0, |line| line + 1)
    );
}
