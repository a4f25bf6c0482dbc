//! What overrides of the pod undo. Source: upstream's operator, which leaves the start of the server to the image's
//! entrypoint, and the server, which wants TLS from 1.2 on.

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Finding, Fix, Severity};
use crate::check::rule::{Group, Rule};
use crate::ogx::{verdict::target, versions};
use serde_json::Value;

pub static COMMAND: Rule = Rule {
    id: "llsd::ogx::command",
    severity: Severity::Warning,
    summary: "A command takes the place of the image's entrypoint, and does not do what that does.",
    why: "The entrypoint starts the config at RUN_CONFIG_PATH and passes --insecure. From 1.2 on ogx does not start \
    without TLS unless it is told to: by --insecure, or by server.insecure in the config.",
    example: "kind: OGXServer\nspec:\n  workload:\n    overrides:\n      command: [ogx, run, /etc/ogx/config.yaml]",
    ..Rule::PLAIN
};

pub static OPERATORS_VARIABLE: Rule = Rule {
    id: "llsd::ogx::operators-variable",
    severity: Severity::Warning,
    summary: "A variable is set that the operator sets itself, or that ogx does not read.",
    why: "An override replaces what the operator sets: the server then listens elsewhere than Service and probe ask. \
    Variables of llama-stack are read by nobody.",
    example: "kind: OGXServer\nspec:\n  workload:\n    overrides:\n      env:\n        - {name: OGX_PORT, value: \"9000\"}",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&COMMAND, &OPERATORS_VARIABLE], check: Some(check) };

/// Variables that the operator sets, with the field for it.
const OWN: [(&str, &str); 5] = [
    ("OGX_PORT", "network.port"),
    ("OGX_WORKERS", "workload.workers"),
    ("OGX_METRICS_PORT", "monitoring.metricsPort"),
    ("RUN_CONFIG_PATH", "overrideConfig"),
    ("OGX_CONFIG", "overrideConfig"),
];

fn check(context: &RuleContext<'_>, report: &mut Report) {
    command(context, report);
    for (name, path, _) in context.env() {
        let at = path.key("name");
        if let Some((_, field)) = OWN.iter().find(|(known, _)| *known == name) {
            let message =
                format!("The operator sets {name} itself: use {field}, so that the rest of the pod agrees with it");
            report.add(
                Finding::new(&OPERATORS_VARIABLE, at, message).with_fix(Fix::remove(format!("Remove {name}"), path)),
            );
        } else if let Some(advice) = of_llama_stack(name) {
            let message = format!("ogx does not read {name}: {advice}");
            report.add(Finding::new(&OPERATORS_VARIABLE, at.clone(), message).with_fix(match renamed(name) {
                Some(new) => Fix::change_to(at, &new),
                None => Fix::remove(format!("Remove {name}"), path),
            }));
        }
    }
}

/// What became of a variable of llama-stack; `None` for others, and for those that concern clients.
fn of_llama_stack(name: &str) -> Option<String> {
    match name {
        "LLS_PORT" | "LLAMA_STACK_PORT" => Some("use network.port".to_owned()),
        "LLS_WORKERS" => Some("use workload.workers".to_owned()),
        "LLAMA_STACK_CONFIG" => Some("use overrideConfig".to_owned()),
        _ => renamed(name).map(|new| format!("it is called {new} now")),
    }
}

/// The name that a variable of llama-stack has for ogx.
pub(crate) fn renamed(name: &str) -> Option<String> {
    const KEPT: [&str; 8] = [
        "CONFIG_DIR",
        "LOGGING",
        "LOG_FILE",
        "LOG_FORMAT",
        "LOG_WIDTH",
        "UI_PORT",
        "TRACE_WARNINGS",
        "DISABLE_VERSION_CHECK",
    ];
    let rest = name.strip_prefix("LLAMA_STACK_")?;
    KEPT.contains(&rest).then(|| format!("OGX_{rest}"))
}

fn command(context: &RuleContext<'_>, report: &mut Report) {
    let overrides = RuleContext::spec("workload.overrides");
    let (at, args) = (overrides.key("command"), overrides.key("args"));
    let words = |path| -> Option<Vec<&str>> {
        context.get(path)?.as_array().map(|all| all.iter().filter_map(Value::as_str).collect())
    };
    let Some(command) = words(&at).filter(|_| context.is_complete(&at) && context.is_complete(&args)) else { return };
    let all = [command, words(&args).unwrap_or_default()].concat();
    let said = |part: &str| all.iter().any(|word| word.contains(part));
    let version = target(context);
    if said("llama_stack") || said("llama stack") || all.windows(2).any(|pair| pair == ["llama", "stack"]) {
        let message = "ogx has no such command: drop command and args, so that the image's entrypoint works, or start \
                       `ogx run /etc/ogx/config.yaml --insecure`";
        report.add(Finding::new(&COMMAND, at, message).weighing(Severity::Error));
    } else if said("ogx") && said("run") && !said("--insecure") && versions::is_from(version, &[1, 2]) {
        let message = format!(
            "ogx {version} starts without TLS only if it is told to, which the image's entrypoint does and this command does \
             not: add --insecure, or set server.insecure in the config"
        );
        report.add(Finding::new(&COMMAND, at, message));
    }
}
