use crate::ide::support::{analyse, apply, cursor, v1alpha2};
use llsd::ide::{self, FormatOptions};

/// What the line looks like after Enter was pressed at `|` and the editor indented by `blanks`.
fn indented(spec: &str, blanks: &str) -> usize {
    let (text, at) = cursor(&v1alpha2(spec).replacen("$0", &format!("\n{blanks}$0"), 1));
    let once = apply(&text, &ide::indent_new_line(&analyse(&text), at, &FormatOptions::default()));
    let line = once[..at - blanks.len()].matches('\n').count();
    let line = once.lines().nth(line).unwrap_or_default();
    assert!(line.trim_matches(' ').is_empty(), "{line:?}");
    // asked again, nothing more is to do
    let start = once[..at - blanks.len()].len();
    assert_eq!(ide::indent_new_line(&analyse(&once), start + line.len(), &FormatOptions::default()), []);
    line.len()
}

#[test]
fn deeper_behind_a_key() {
    for blanks in ["", "  ", "\t"] {
        assert_eq!(indented("providers:$0\n", blanks), 4, "{blanks:?}");
    }
    assert_eq!(indented("providers: # all$0\n", "  "), 4);
    assert_eq!(indented("workload:\n  overrides:\n    command:\n      - |$0\n", "      "), 10);
    assert_eq!(indented("x: >-$0\n", "  "), 4);
    // what the editor did is good enough
    assert_eq!(indented("providers:$0\n", "    "), 4);
    assert_eq!(indented("providers:$0\n", "      "), 6);
}

#[test]
fn an_item_goes_on_below_its_first_field() {
    let spec = "providers:\n  inference:\n    - provider: vllm$0\n";
    assert_eq!(indented(spec, ""), 8);
    assert_eq!(indented(spec, "      "), 8);
    assert_eq!(indented(spec, "        "), 8);
    assert_eq!(indented("providers:\n  inference:\n    - settings:$0\n", "        "), 10);
    assert_eq!(indented("providers:\n  inference:\n    -$0\n", "    "), 8);
}

#[test]
fn elsewhere_the_editor_is_right() {
    for spec in [
        "providers:\n  inference:\n    - provider: vllm\n      id: a$0\n",
        "disabled:\n  - eval$0\n",
        "providers:\n\n$0\n",
        "# note:$0\n",
        "a: \"some:$0\n  text\"\n",
        "a: |\n  some:$0\n  text\n",
        "a: {b:$0\n",
    ] {
        assert_eq!(indented(spec, "   "), 3, "{spec}");
    }
    let (text, at) = cursor("spec:\n$0\n");
    assert_eq!(ide::indent_new_line(&analyse(&text), at, &FormatOptions::default()), []);
}
