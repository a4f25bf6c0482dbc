//! The roles in `deploy/rbac/` are those of the code. `UPDATE_EXPECT=1` writes them again.

use llsd_operator::rbac::manifests;
use std::path::Path;

#[test]
fn roles_are_those_of_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/rbac");
    for (name, text) in manifests() {
        expect_test::expect_file![folder.join(name)].assert_eq(&text);
    }
}
