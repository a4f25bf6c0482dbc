//! Configs that the templates of a Helm chart make of its values and files.

use crate::ide::config_features::{CONFIG, HEAD, RESOURCE, TEMPLATE, values};
use crate::ide::files::Files;
use llsd::ide::{self, Workspace};

/// What is said of the values of a chart with a template of this data.
fn said_of(values: &str, data: &str) -> Vec<String> {
    let template = TEMPLATE.split_once("\ndata:").expect("data").0;
    let files = Files::new(&format!(
        "#- /chart/Chart.yaml\n{HEAD}#- /chart/templates/all.yaml\n{template}\n{data}---\n{RESOURCE}#- /chart/values.yaml\n{values}"
    ));
    let text = files.text("/chart/values.yaml");
    let found = files.analysis("/chart/values.yaml").diagnostics().into_iter();
    found.map(|one| format!("{} {}", &text[one.span.start..one.span.end], one.message)).collect()
}

#[test]
fn values_are_judged_where_a_template_puts_them_whole_into_a_config_map() {
    let put = "data:\n  run.yaml: |\n    {{- toYaml .Values.stack.config | nindent 4 }}\n";
    let text = values(CONFIG).replacen("  config:\n", "  config: |\n", 1);
    for (values, data) in
        [(&values(CONFIG), put), (&text, "data:\n  run.yaml: |-\n{{ tpl .Values.stack.config . | indent 4 }}\n")]
    {
        let said = said_of(values, data);
        let wanted = "max_token llama-stack 0.5.4 does not read \"max_token\"";
        assert!(said.iter().any(|one| one.starts_with(wanted)), "{data}: {said:#?}");
    }
    // a template of something else, or that does more; the other type; an alias, which stands for what is outside
    for (values, data) in [
        (values(CONFIG), "data:\n  run.yaml: |\n    {{- toYaml .Values.stack | nindent 4 }}\n"),
        (
            values(CONFIG),
            "data:\n  run.yaml: |\n    {{- toYaml (merge .Values.stack.config .Values.more) | nindent 4 }}\n",
        ),
        (values(CONFIG), "data:\n  run.yaml: |\n    {{- .Values.stack.config | nindent 4 }}\n"),
        (text, put),
        (values(CONFIG).replace("replicas: 1", "replicas: &n 1").replace("4096", "*n"), put),
    ] {
        assert_eq!(said_of(&values, data), [""; 0], "{data}");
    }
}

#[test]
fn a_file_that_a_template_takes_is_judged_as_what_mounts_it_reads_it() {
    for (data, is_taken) in [
        ("data:\n  run.yaml: |\n    {{- .Files.Get \"files/run.yaml\" | nindent 4 }}\n", true),
        ("data:\n  {{- (.Files.Glob \"files/*\").AsConfig | nindent 2 }}\n", true),
        ("data:\n  run.yaml: |\n    {{- .Files.Get \"files/other.yaml\" | nindent 4 }}\n", false),
    ] {
        let template = TEMPLATE.split_once("\ndata:").expect("data").0;
        let files = Files::new(&format!(
            "#- /chart/Chart.yaml\n{HEAD}#- /chart/templates/all.yaml\n{template}\n{data}---\n{RESOURCE}#- /chart/files/run.yaml\n{CONFIG}"
        ));
        let said = files.analysis("/chart/files/run.yaml").diagnostics();
        let is_told = said.iter().any(|one| one.message.starts_with("llama-stack 0.5.4 does not read"));
        assert_eq!(is_told, is_taken, "{data}: {said:#?}");
    }
}

#[test]
fn values_follow_the_templates_as_these_change() {
    let (mut workspace, values) = (Workspace::new(), values(CONFIG));
    let mut analysis = ide::analyse(values.as_str().into(), None, &workspace);
    for (file, text, wanted) in [
        ("chart/templates/config.yaml", TEMPLATE, 0),
        ("chart/Chart.yaml", HEAD, 1),
        ("chart/templates/config.yaml", "a: b\n", 0),
        ("chart/templates/config.yaml", TEMPLATE, 1),
        ("chart/templates/stack.yaml", RESOURCE, 3),
        ("chart/Chart.yaml", "", 0),
    ] {
        let objects = ide::analyse(text.into(), None, &Workspace::new()).objects();
        let names = workspace.set(file, objects);
        assert!(analysis.mentions_any(&names), "{file}");
        let known = workspace.clone().seen_by("chart/values.yaml");
        analysis = ide::analyse(values.as_str().into(), Some(&analysis), &known);
        assert_eq!(analysis.diagnostics().len(), wanted, "{file}: {text}");
        assert_eq!(analysis.is_relevant(), wanted > 0);
        assert!(analysis.may_be_relevant());
        assert_eq!(analysis.diagnostics(), ide::analyse(values.as_str().into(), None, &known).diagnostics());
    }
}
