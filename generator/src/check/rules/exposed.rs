//! Exposure to everybody. Source: an Ingress without a host answers every name that leads to its controller, over plain
//! HTTP, and llama-stack lets in whoever connects. OpenShift makes no route of one.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use serde_json::Value;

pub static NO_HOST: Rule = Rule {
    id: "llsd::expose::no-host",
    severity: Severity::Information,
    summary: "The server is exposed without a hostname.",
    why: "The Ingress then answers every host name that leads to the cluster and that no other Ingress claims, and the \
          server asks nobody who they are. OpenShift makes no route of such an Ingress.",
    example: "networking:\n  expose: {}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NO_HOST], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    // v1alpha1 has no field for it.
    if context.version != ApiVersion::V1Alpha2 {
        return;
    }
    let path = RuleContext::spec("networking.expose");
    let Some(Value::Object(expose)) = context.get(&path) else { return };
    let is_on = expose.get("enabled").is_none_or(|enabled| enabled == true || enabled.is_null());
    let is_known = |name: &str| context.is_known(&path.key(name));
    if is_on && is_known("enabled") && expose.get("hostname").is_none_or(Value::is_null) && is_known("hostname") {
        let message = "Without a hostname everybody who reaches the cluster's Ingress can use the server: name one";
        report.add(Finding::new(&NO_HOST, path, message));
    }
}
