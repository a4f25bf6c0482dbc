//! Files of several documents, in the forms that Kubernetes tools accept beside YAML's own.

use llsd_yaml::{Stream, split_documents};

fn pieces(text: &str) -> Vec<&str> {
    split_documents(text).iter().map(|span| span.slice(text)).collect()
}

#[test]
fn json_objects_follow_each_other_without_a_marker() {
    assert_eq!(pieces("{\"a\": 1}\n{\"b\": 2}\n"), ["{\"a\": 1}\n", "{\"b\": 2}\n"]);
    assert_eq!(pieces("{\"a\": 1}{\"b\": 2} {}\n"), ["{\"a\": 1}", "{\"b\": 2} ", "{}\n"]);
    assert_eq!(
        pieces("\u{feff}\n{\n\"a\": \"}{\\\"\"\n}\n\n  {\n}"),
        ["\u{feff}\n{\n\"a\": \"}{\\\"\"\n}\n\n", "  {\n}"]
    );
    assert_eq!(pieces("{\"a\": 1}\n---\n{\"b\": 2}\n"), ["{\"a\": 1}\n", "---\n{\"b\": 2}\n"]);
}

#[test]
fn what_is_not_json_is_not_cut() {
    for text in [
        "{{ if .x }}\n{\"a\": 1}\n",
        "{a: 1}\n{b: 2}\n",
        "{\"a\": 'x}\n{\"b'}\n",
        "{\"a\": 1 # }\n}\n",
        "{\"a\": {\n{\"b\": 2}\n",
        "---\n{\"a\": 1}\n{\"b\": 2}\n",
        "a: {\"b\": 1}\n{\"c\": 2}\n",
    ] {
        assert_eq!(pieces(text), [text]);
    }
}

#[test]
fn a_byte_order_mark_may_stand_behind_the_separator() {
    for text in ["---\n\u{feff}a: 1\nb: 2\n", "--- # note\r\n\u{feff}# note\na: 1\nb: 2\n"] {
        let stream = Stream::parse(text);
        let document = &stream.documents()[0].document;
        assert_eq!(document.errors(), []);
        assert_eq!(document.strict_error(), None);
        let keys: Vec<_> = document.root().unwrap().entries().map(|entry| entry.key.value().into_owned()).collect();
        assert_eq!(keys, ["a", "b"]);
    }
    let broken = Stream::parse("---\n\u{feff}a: [1\nb: 2\n");
    let error = broken.documents()[0].document.strict_error().unwrap().clone();
    assert!(error.span.start > 7, "{error:?}");
}
