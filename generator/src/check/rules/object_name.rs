//! Names of other objects. Source: Kubernetes calls namespaces by DNS-1123 labels, and Secrets, ConfigMaps and service
//! accounts by DNS-1123 subdomains; nothing else exists under its API.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use super::references;
use crate::api::ApiVersion;
use crate::names::{Namespace, ObjectName};

pub static NAME: Rule = Rule {
    id: "llsd::reference::name",
    severity: Severity::Error,
    summary: "The name of a Secret, ConfigMap, service account or namespace is one that no such object can have.",
    why: "Kubernetes takes lower-case letters, digits, `-` and, in names of objects, `.`. The operator asks the API server \
          for no other name, and so the resource could never become ready.",
    example: "overrideConfig:\n  configMapName: My_Config",
    explains_schema: true,
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NAME], check: Some(check) };

/// Fields that hold names: of objects beside those that [`references`] finds in the resource's own namespace, and of
/// namespaces.
fn fields(version: ApiVersion) -> (&'static [&'static str], &'static [&'static str]) {
    match version {
        ApiVersion::V1Alpha1 => (
            &["server.tlsConfig.caBundle.configMapName", "server.podOverrides.serviceAccountName"],
            &["server.userConfig.configMapNamespace", "server.tlsConfig.caBundle.configMapNamespace"],
        ),
        ApiVersion::V1Alpha2 => (
            &["networking.tls.caBundle.configMapName", "workload.overrides.serviceAccountName"],
            &["networking.tls.caBundle.configMapNamespace"],
        ),
        ApiVersion::OgxV1Beta1 => (&["workload.overrides.serviceAccountName"], &[]),
    }
}

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let (objects, namespaces) = fields(context.version);
    // An empty name is as good as none.
    let written = |field: &&str| {
        let path = RuleContext::spec(field);
        let name = context.text(&path).filter(|name| !name.is_empty())?;
        Some((path, name))
    };
    let mut names: Vec<_> = objects.iter().filter_map(written).collect();
    for reference in references(context) {
        if !names.iter().any(|(path, _)| *path == reference.path) {
            names.push((reference.path, reference.name));
        }
    }
    let objects = names.into_iter().filter_map(|(path, name)| Some((path, ObjectName::parse(name).err()?)));
    let namespaces =
        namespaces.iter().filter_map(written).filter_map(|(path, name)| Some((path, Namespace::parse(name).err()?)));
    for (path, fault) in objects.chain(namespaces) {
        report.add(Finding::new(&NAME, path, fault.to_string()));
    }
}
