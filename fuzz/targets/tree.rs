//! Text to tree: nothing panics, every node lies in the text, and a text read piece by piece is the same tree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llsd_yaml::cursor::cursor_at;
use llsd_yaml::{Stream, parse_document};

fuzz_target!(|text: &str| {
    let stream = Stream::parse(text);
    let mut end = 0;
    for located in stream.documents() {
        assert_eq!(located.offset, end, "documents cover the text");
        let document = &located.document;
        end += document.text().len();
        for node in document.nodes() {
            assert!(document.text().get(node.span().start..node.span().end).is_some());
            assert!(document.text().get(node.full_span().start..node.full_span().end).is_some());
            let _ = (node.value(), node.path(), node.resolve(llsd_yaml::Rules::Kubernetes));
        }
        for error in document.errors().iter().chain(document.strict_error()) {
            assert!(document.text().get(error.span.start..error.span.end).is_some());
        }
        for offset in (0..=document.text().len()).step_by(1 + document.text().len() / 50) {
            let cursor = cursor_at(document, offset);
            assert!(document.text().get(cursor.replace.start..cursor.replace.end).is_some());
        }
    }
    let _ = parse_document(text);
});
