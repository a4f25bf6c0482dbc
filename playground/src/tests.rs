use super::Engine;
use serde_json::{Value, json};

/// A resource with one mistake, and a letter that has two code units in UTF-16 in front of it.
const TEXT: &str = "# 😀\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: a\nspec:\n  \
                    distribution:\n    name: starter\n  resorces: {}\n";

fn ask(engine: &mut Engine, question: Value) -> Value {
    serde_json::from_str(&engine.answer(&question.to_string())).expect("an answer is JSON")
}

fn ok(question: Value) -> Value {
    let answer = ask(&mut Engine::default(), question);
    assert!(answer["error"].is_null(), "{answer}");
    answer["ok"].clone()
}

fn slice(text: &str, place: &Value) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let number = |name: &str| usize::try_from(place[name].as_u64().expect("a position")).expect("a small one");
    String::from_utf16(&units[number("from")..number("to")]).expect("whole letters")
}

#[test]
fn places_are_those_of_the_page() {
    let found = ok(json!({ "ask": "check", "text": TEXT }));
    let diagnostic = &found["diagnostics"][0];
    assert_eq!(slice(TEXT, diagnostic), "resorces", "{found}");
    assert_eq!(slice(TEXT, &diagnostic["fixes"][0]["edits"][0]), "resorces");
}

#[test]
fn what_is_known_of_the_last_text_changes_no_answer() {
    let mut engine = Engine::default();
    let right = TEXT.replace("resorces:", "resources:");
    for text in [TEXT, &right, "", "kind: x", &right, TEXT] {
        for version in [None, Some("0.7.3")] {
            for question in ["check", "fix", "format"] {
                let question = json!({ "ask": question, "text": text, "version": version });
                assert_eq!(ask(&mut engine, question.clone()), ask(&mut Engine::default(), question));
            }
        }
    }
}

#[test]
fn each_line_of_a_config_tells_where_it_comes_from() {
    let text = TEXT.replace("resorces: {}", "resources: {models: [{name: m}]}");
    let preview = ok(json!({ "ask": "preview", "text": text, "at": 0 }));
    let lines = preview["lines"].as_array().expect("origins");
    let config = preview["text"].as_str().expect("a config");
    assert_eq!(lines.len(), config.lines().count());
    let own =
        config.lines().zip(lines).find(|(_, origin)| origin["kind"] == "resource").expect("a line of the resource");
    assert!(!slice(&text, own.1).is_empty(), "{own:?}");
}

#[test]
fn offers_hovers_and_actions_are_those_of_the_language_server() {
    let at = TEXT.encode_utf16().count() - "resorces: {}\n".len();
    let offers = ok(json!({ "ask": "complete", "text": TEXT, "at": at }));
    assert!(offers.as_array().expect("a list").iter().any(|offer| offer["label"] == "resources"), "{offers}");
    let hover = ok(json!({ "ask": "hover", "text": TEXT, "at": at - 10 }));
    assert!(hover["markdown"].as_str().is_some_and(|text| !text.is_empty()), "{hover}");
    let actions = ok(json!({ "ask": "actions", "text": TEXT, "from": at, "to": at }));
    assert!(actions[0]["title"].as_str().is_some_and(|title| title.contains("resources")), "{actions}");
}

#[test]
fn a_migration_is_of_the_whole_text_or_an_error() {
    let old = "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  # kept\n  \
               replicas: 1\n  server:\n    distribution: {name: starter}\n";
    let twice = format!("{old}---\n{}", old.replace("name: a", "name: b"));
    let new = ok(json!({ "ask": "migrate", "text": twice, "to": "v1alpha2" }));
    let text = new["text"].as_str().expect("a text");
    assert_eq!((text.matches("v1alpha2").count(), text.matches("# kept").count()), (2, 2), "{text}");
    let ogx = ok(json!({ "ask": "migrate", "text": twice, "to": "ogx@1.5.0" }));
    assert_eq!(ogx["text"].as_str().expect("a text").matches("OGXServer").count(), 2);
    let mut engine = Engine::default();
    for to in ["v1alpha3", "ogx@9", "config@9", "ogx", "config@0.7.3", "v1alpha2"] {
        let answer = ask(&mut engine, json!({ "ask": "migrate", "text": TEXT, "to": to }));
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{to}: {answer}");
    }
}

#[test]
fn a_question_that_makes_no_sense_gets_an_error() {
    let mut engine = Engine::default();
    for question in ["", "{}", r#"{"ask":"tea"}"#, r#"{"ask":"hover","at":-1}"#, r#"{"ask":"check","version":"9"}"#] {
        let answer: Value = serde_json::from_str(&engine.answer(question)).expect("JSON");
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{question}: {answer}");
    }
    let long = json!({ "ask": "check", "text": "a".repeat(super::TEXT + 1) });
    assert!(ask(&mut engine, long)["error"].is_string());
}
