//! `llsd explain`: prints the documentation of rules.

use super::{CLEAN, FAILURE, complain};
use clap::Args;
use llsd_generator::check::finding::Severity;
use llsd_generator::check::{Rule, rules};
use llsd_generator::nearest::nearest;
use std::io::{self, Write};

/// Say what a rule looks for and why
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Id of the rule, as findings show it; without it: all rules
    #[arg(value_name = "RULE")]
    rule: Option<String>,
    /// Print the page of all rules, as Markdown
    #[arg(long, conflicts_with = "rule", hide = true)]
    markdown: bool,
}

/// Prints one rule or the list of all.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let mut out = io::stdout().lock();
    if arguments.markdown {
        out.write_all(page().as_bytes())?;
        return Ok(CLEAN);
    }
    let Some(wanted) = &arguments.rule else {
        let width = rules::all().iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        for rule in rules::all() {
            writeln!(out, "{:width$}  {}", rule.id, rule.summary)?;
        }
        return Ok(CLEAN);
    };
    // The prefix is the same everywhere; nobody should have to type it.
    let is_wanted = |rule: &&&Rule| rule.id == wanted || rule.id.strip_prefix("llsd::") == Some(wanted);
    match rules::all().iter().find(is_wanted) {
        Some(rule) => {
            writeln!(out, "{} ({})\n\n{}\n{}\n", rule.id, word(rule.severity), rule.summary, rule.why)?;
            for line in rule.example.lines() {
                writeln!(out, "    {line}")?;
            }
            Ok(CLEAN)
        }
        None => {
            let near = nearest(wanted, rules::all().iter().map(|rule| rule.id));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            complain(&format!("no rule is called {wanted:?}{hint} `llsd explain` lists them"));
            Ok(FAILURE)
        }
    }
}

/// The reference of all rules: `docs/findings.md`.
fn page() -> String {
    let mut page = String::from(
        "# Findings\n\n\
         What `llsd check`, the editor, the webhook and the operator say, by rule. Written by \
         `llsd explain --markdown`; the rules in `generator/src/check/rules` are the source.\n",
    );
    for rule in rules::all() {
        let severity = word(rule.severity);
        // What stands between angle brackets is no tag of HTML.
        let prose = format!("{} {}", rule.summary, rule.why).replace('<', "\\<");
        page.push_str(&format!("\n## {}\n\n*{severity}* · {prose}\n\n```yaml\n{}\n```\n", rule.id, rule.example));
    }
    page
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "remark",
        Severity::Hint => "hint",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_in_the_documentation_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/findings.md");
        expect_test::expect_file![path].assert_eq(&super::page());
    }

    /// A setting as the extension for VS Code declares it.
    fn declared(setting: &str) -> serde_json::Value {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vscode-extension/package.json");
        let package: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("package.json")).expect("JSON");
        package["contributes"]["configuration"]["properties"][setting].clone()
    }

    /// VS Code offers these versions in the settings and in a list to pick from.
    #[test]
    fn the_extension_offers_the_versions_of_llama_stack_that_have_a_catalog() {
        let is_llama_stack = |version: &&str| llsd_generator::config::named(version).starts_with("llama-stack ");
        let all = llsd_generator::catalog::Catalog::versions().iter().map(String::as_str);
        let expected: Vec<&str> = std::iter::once("").chain(all.filter(is_llama_stack)).collect();
        assert_eq!(declared("llsd.llamaStackVersion")["enum"], serde_json::json!(expected));
    }

    /// VS Code completes the rules in the settings, and says there what each is about.
    #[test]
    fn the_extension_knows_the_rules() {
        let setting = declared("llsd.severity");
        let known = setting["properties"].as_object().expect("the rules");
        let described = |id: &str| known.get(id).map(|schema| schema["description"].as_str().unwrap_or_default());
        let behind: Vec<_> =
            super::rules::all().iter().filter(|rule| described(rule.id) != Some(rule.summary)).collect();
        assert!(behind.is_empty(), "to be written into llsd.severity: {behind:#?}");
        let gone: Vec<_> = known.keys().filter(|id| super::rules::find(id).is_none()).collect();
        assert!(gone.is_empty(), "to be taken out of llsd.severity: {gone:#?}");
        let levels = &setting["additionalProperties"]["enum"];
        assert!(known.values().all(|schema| schema["enum"] == *levels));
    }
}
