//! From a field to what it produces, and from generated and base configs back.

use super::configs::{CONFIG, LEGACY};
use super::{SPEC, definition, spec};
use crate::ide::files::{Files, listed};
use crate::ide::support::v1alpha2;
use expect_test::expect;
use llsd::ide::{self, Query, TextId};

#[test]
fn a_field_leads_to_what_it_produces_and_back() {
    let text = spec("endpoint: http", "end$0point: http");
    definition(
        &text,
        expect![[r#"
        preview 0.0 96:7-96:36 base_url: http://vllm:8000/v1
    "#]],
    );
    let files = Files::new(&text);
    let (query, at) = files.asked();
    let produced = ide::implementation(&query, at);
    let preview = files.about_preview("main.yaml");
    let back = ide::definition(&preview, produced[0].span.start);
    expect![[r#"
        main.yaml 12:9-12:17 endpoint
    "#]]
    .assert_eq(&listed(&back));
    // every generated line leads somewhere that exists
    let text = produced[0].text();
    let mut offset = 0;
    let (mut resource, mut base) = (0, 0);
    for line in text.split_inclusive('\n') {
        for location in ide::definition(&preview, offset) {
            match location.place {
                TextId::File(_) => resource += 1,
                TextId::Base(_) => base += 1,
                TextId::Preview { .. } => panic!("a line of the preview comes from the preview"),
            }
            assert!(!location.span.is_empty(), "{line}");
        }
        offset += line.len();
    }
    assert!(resource >= 10 && base >= 100, "{resource} {base}");
}

#[test]
fn names_of_generated_and_base_texts_are_names() {
    let files = Files::new(&spec("name: gpt", "name: gpt"));
    let preview = files.about_preview("main.yaml");
    let text = ide::preview(files.analysis("main.yaml"), 0).unwrap().text;
    let at = text.find("provider_id: main").unwrap() + "provider_id: m".len();
    expect![[r#"
        preview 0.0 93:18-93:22 main *
        preview 0.0 255:18-255:22 main
        main.yaml 10:13-10:17 main *
        main.yaml 22:19-22:23 main
    "#]]
    .assert_eq(&listed(&ide::references(&preview, at, true)));
    let base = Query { place: TextId::Base("starter".to_owned()), analysis: None, library: &files, generated: true };
    let text = ide::base_text("starter").unwrap();
    let at = text.rfind("provider_id: tavily-search").unwrap() + "provider_id: t".len();
    expect![[r#"
        base starter 202:20-202:33 tavily-search *
    "#]]
    .assert_eq(&listed(&ide::definition(&base, at)));
    expect![[r#"
        base starter 202:20-202:33 tavily-search *
        base starter 289:20-289:33 tavily-search
    "#]]
    .assert_eq(&listed(&ide::highlight(&base, at)));
}

#[test]
fn every_offset_of_every_text_has_an_answer() {
    for text in [
        SPEC.to_owned(),
        v1alpha2(SPEC),
        LEGACY.to_owned() + CONFIG,
        "a: [*b, &b {<<: *b}]\nkind: List\nitems: *b\n".to_owned(),
    ] {
        let files = Files::new(&text);
        for name in ["main.yaml", "config.yaml"] {
            if !text.contains("#- config.yaml") && name == "config.yaml" {
                continue;
            }
            let query = files.about(name);
            for at in 0..=files.text(name).len() {
                for location in ide::definition(&query, at).iter().chain(&ide::references(&query, at, true)) {
                    assert!(location.text().get(location.span.start..location.span.end).is_some());
                }
                let _ = ide::prepare_rename(&query, at);
            }
        }
    }
}
