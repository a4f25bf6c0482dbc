//! Every kind of child, over resources that reach every branch: one file in `cases/` each, and in `golden/` what comes
//! of it. `UPDATE_EXPECT=1` writes the golden files again.

use crate::children::case::Case;
use std::fs;
use std::path::Path;

#[test]
fn children_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let cases = Case::all();
    for case in &cases {
        expect_test::expect_file![folder.join(format!("{}.yaml", case.name))].assert_eq(&case.manifest());
    }
    let recorded = fs::read_dir(&folder).expect("the golden files").count();
    assert_eq!(recorded, cases.len(), "a golden file without a case");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for case in Case::all() {
        assert_eq!(case.manifest(), case.manifest(), "{}", case.name);
    }
}

/// Whatever is read more than once by the kubelet or by server-side apply has to be there once.
#[test]
fn lists_that_are_keyed_by_name_have_no_name_twice() {
    for case in Case::all() {
        let Ok(children) = case.children() else { continue };
        for child in children {
            let pod = &child.object["spec"]["template"]["spec"];
            let container = &pod["containers"][0];
            for (list, key) in
                [(&container["env"], "name"), (&container["volumeMounts"], "mountPath"), (&pod["volumes"], "name")]
            {
                let mut names: Vec<_> = list.as_array().into_iter().flatten().map(|item| item[key].clone()).collect();
                let all = names.len();
                names.sort_by_key(ToString::to_string);
                names.dedup();
                assert_eq!(names.len(), all, "{}: {list}", case.name);
            }
        }
    }
}
