//! Properties that hold for every text.

use llsd_yaml::cursor::cursor_at;
use llsd_yaml::edit::{
    Position, TextEdit, apply, insert_entry, insert_item, quote_block_scalar, quote_scalar, remove_entry, rename_key,
    replace_value,
};
use llsd_yaml::{Document, Resolved, Rules, Span, Step, Stream, parse_document, split_documents};
use proptest::prelude::*;

/// Texts made of pieces that mean something in YAML.
fn yaml_soup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "a",
        "b: ",
        "key:",
        "- ",
        "-",
        "\n",
        "\n  ",
        "\n    ",
        "\n ",
        "\r\n",
        "\t",
        " ",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "#",
        " # c",
        "|",
        ">",
        "|-\n",
        ">+2\n",
        "&x ",
        "*x",
        "!t ",
        "? ",
        ": ",
        "---\n",
        "...\n",
        "{{ x }}",
        "é",
        "\u{feff}",
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> b\n",
        "\\",
        "%YAML 1.2\n",
        "@",
        "1",
        "~",
        "\r",
        "name: x\n",
        "  - y: z\n",
    ];
    proptest::collection::vec(proptest::sample::select(pieces), 0..40).prop_map(|p| p.concat())
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![3 => yaml_soup(), 1 => any::<String>()]
}

fn check_span(text: &str, span: Span) {
    assert!(span.start <= span.end && span.end <= text.len(), "{span:?} in {text:?}");
    assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{span:?} in {text:?}");
}

fn check_document(doc: &Document) {
    let text = doc.text();
    for node in doc.nodes() {
        check_span(text, node.span());
        check_span(text, node.full_span());
        let _ = (node.value(), node.path(), node.resolve(Rules::Kubernetes), node.resolve(Rules::PyYaml));
        if let Some(block) = node.block() {
            check_span(text, block.header);
            check_span(text, block.content);
            let decoded = node.value();
            for (inner, outer) in &block.pieces {
                assert!(*inner <= decoded.len() && *outer <= text.len(), "{text:?}");
            }
        }
        for child in node.children() {
            assert_eq!(child.parent(), Some(node), "{text:?}");
        }
        if node.is_mapping() {
            let mut previous = 0;
            for entry in node.entries() {
                assert!(entry.key.span().start >= previous, "keys in order: {text:?}");
                previous = entry.key.span().start;
                assert_eq!(entry.value.key(), Some(entry.key), "{text:?}");
                assert!(entry.key.is_key() && !entry.value.is_key(), "{text:?}");
            }
            assert_eq!(node.children().count(), 2 * node.entries().count(), "{text:?}");
        }
    }
    for comment in doc.comments() {
        check_span(text, comment.span);
        assert!(comment.span.slice(text).starts_with('#'), "{text:?}");
    }
    assert!(doc.comments().windows(2).all(|w| w[0].span.end <= w[1].span.start), "comments in order: {text:?}");
    for error in doc.errors() {
        check_span(text, error.span);
        assert!(!error.message.is_empty() && !error.message.ends_with('.'));
    }
    for offset in 0..=text.len() {
        let cursor = cursor_at(doc, offset);
        check_span(text, cursor.replace);
        let _ = doc.node_at(offset);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in texts()) {
        check_document(&parse_document(&text));
        for located in Stream::parse(&text).documents() {
            check_document(&located.document);
            let _ = located.document.strict_error();
        }
    }

    #[test]
    fn documents_cover_the_text(text in texts()) {
        let spans = split_documents(&text);
        prop_assert_eq!(spans[0].start, 0);
        prop_assert_eq!(spans[spans.len() - 1].end, text.len());
        prop_assert!(spans.windows(2).all(|w| w[0].end == w[1].start));
    }

    #[test]
    fn quoted_texts_are_read_back(text in any::<String>()) {
        let yaml = format!("k: {}\nl: [{}]\n", quote_block_scalar(&text), quote_scalar(&text));
        let doc = parse_document(&yaml);
        let found = doc.root().and_then(|r| r.get("k")).expect("k is there");
        prop_assert_eq!(found.value(), text.as_str());
        for rules in [Rules::Kubernetes, Rules::PyYaml, Rules::Core] {
            prop_assert_eq!(found.resolve(rules), Resolved::Str);
        }
        prop_assert_eq!(doc.strict_error(), None);
        let item = doc.find(&[Step::Key("l".to_owned()), Step::Index(0)]).expect("the item is there");
        prop_assert_eq!(item.value(), text.as_str());
    }
}

/// Every node of a well-formed text in turn is edited; the result is well-formed and has the edit.
fn edit_everywhere(text: &str) {
    let doc = parse_document(text);
    let fine = |edits: &[TextEdit], what: &str| {
        let after = apply(text, edits);
        let again = parse_document(&after);
        assert_eq!(again.strict_error(), None, "{what}\n--- before\n{text}\n--- after\n{after}");
        assert!(again.errors().is_empty(), "{what}\n--- before\n{text}\n--- after\n{after}");
        again
    };
    for node in doc.nodes() {
        if node.kind() == llsd_yaml::Kind::Alias || node.anchor().is_some() || node.is_key() {
            continue;
        }
        let path = node.path();
        if path.is_empty() {
            continue;
        }
        for yaml in ["new", "x: 1\ny: [2]", "- 1\n- z: 2\n  w: 3", "|\n  t1\n\n  t2\n"] {
            let after = fine(&replace_value(node, yaml), "replace");
            let expected = parse_document(yaml);
            let found = after.find(&path).expect("the new value is there");
            assert_eq!(plain(found), plain(expected.root().expect("a root")), "{path:?} {yaml:?}\n{}", after.text());
            // The comment behind the last line of a removed block goes with it; all others outside stay.
            let end = text[node.span().end..].find('\n').map_or(text.len(), |i| node.span().end + i);
            let gone = |c: &&llsd_yaml::Comment| node.span().start <= c.span.start && c.span.end <= end;
            let inner = doc.comments().iter().filter(gone).count();
            assert!(after.comments().len() >= doc.comments().len() - inner, "comments\n{text}\n{}", after.text());
        }
        let after = fine(&remove_entry(node), "remove");
        let siblings = node.parent().map_or(0, |p| p.children().count());
        if node.key().is_some() && siblings > 2 {
            assert!(after.find(&path).is_none(), "{path:?}\n{}", after.text());
        }
        if node.is_mapping() || node.is_absent() {
            for position in [Position::First, Position::Last] {
                let edits = insert_entry(&doc, &path, "fresh", "- q\n- r", position).expect("there is a place");
                let after = fine(&edits, "insert");
                let mut path = path.clone();
                path.push(Step::Key("fresh".to_owned()));
                path.push(Step::Index(1));
                assert_eq!(
                    after.find(&path).map(|n| n.value().into_owned()).as_deref(),
                    Some("r"),
                    "{path:?}\n{}",
                    after.text()
                );
            }
        }
        if node.is_sequence() {
            let count = node.items().count();
            for index in [Some(0), None] {
                let edits = insert_item(&doc, &path, "u: 1\nv: 2", index).expect("there is a place");
                let after = fine(&edits, "insert item");
                let mut path = path.clone();
                path.push(Step::Index(index.unwrap_or(count)));
                path.push(Step::Key("v".to_owned()));
                assert_eq!(
                    after.find(&path).map(|n| n.value().into_owned()).as_deref(),
                    Some("2"),
                    "{path:?}\n{}",
                    after.text()
                );
            }
        }
        if let Some(key) = node.key() {
            fine(&rename_key(key, "other name: x"), "rename");
        }
    }
}

fn plain(node: llsd_yaml::Node<'_>) -> String {
    match node.kind() {
        llsd_yaml::Kind::Mapping => {
            node.entries().map(|e| format!("{{{}={}}}", e.key.value(), plain(e.value))).collect()
        }
        llsd_yaml::Kind::Sequence => node.items().map(|i| format!("[{}]", plain(i))).collect(),
        _ => node.value().trim_end().to_owned(),
    }
}

/// The samples of this repository.
fn samples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("samples").filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    files.into_iter().map(|p| (p.display().to_string(), std::fs::read_to_string(&p).expect("a text"))).collect()
}

#[test]
fn samples_can_be_edited_everywhere() {
    for (_, text) in samples() {
        for span in split_documents(&text) {
            edit_everywhere(span.slice(&text));
        }
    }
    edit_everywhere(include_str!("common/layouts.yaml"));
}
