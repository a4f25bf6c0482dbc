use crate::ide::support::{analyse, cursor, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide;

fn check(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let analysis = analyse(&text);
    let spans = ide::selection_ranges(&analysis, at);
    for pair in spans.windows(2) {
        assert!(pair[1].start <= pair[0].start && pair[0].end <= pair[1].end && pair[0] != pair[1], "{spans:?}");
    }
    let shown: Vec<String> = spans.iter().take(7).map(|span| format!("{:?}\n", &text[span.start..span.end])).collect();
    expected.assert_eq(&shown.concat());
}

#[test]
fn grows_from_the_word_to_the_file() {
    check(
        &v1alpha2("providers:\n  inference:\n    - provider: \"vl$0lm\"\n      id: a\n"),
        expect![[r#"
            "vllm"
            "\"vllm\""
            "provider: \"vllm\""
            "provider: \"vllm\"\n        id: a"
            "- provider: \"vllm\"\n        id: a"
            "inference:\n      - provider: \"vllm\"\n        id: a"
            "providers:\n    inference:\n      - provider: \"vllm\"\n        id: a"
        "#]],
    );
    check(
        "a: 1 # wh$0y\n---\nb: 2\n",
        expect![[r##"
            "# why"
            "a: 1 # why\n"
            "a: 1 # why\n---\nb: 2\n"
        "##]],
    );
    check(
        "$0",
        expect![[r#"
        ""
    "#]],
    );
}
