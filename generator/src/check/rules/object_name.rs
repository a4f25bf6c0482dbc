//! Names of other objects. Source: Kubernetes calls namespaces by DNS-1123 labels, and Secrets, ConfigMaps and service
//! accounts by DNS-1123 subdomains; nothing else exists under its API.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use crate::names::{Namespace, ObjectName};
use crate::references::{NeededBy, Reference};

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

fn check(context: &RuleContext<'_>, report: &mut Report) {
    // A namespace is judged also while the name that belongs to it is not written.
    let (account, namespaces): (_, &[&str]) = match context.version {
        ApiVersion::V1Alpha1 => (
            "server.podOverrides.serviceAccountName",
            &["server.userConfig.configMapNamespace", "server.tlsConfig.caBundle.configMapNamespace"],
        ),
        ApiVersion::V1Alpha2 => {
            ("workload.overrides.serviceAccountName", &["networking.tls.caBundle.configMapNamespace"])
        }
        ApiVersion::OgxV1Beta1 => ("workload.overrides.serviceAccountName", &[]),
    };
    // An empty name is as good as none.
    let written = |field: &str| {
        let path = RuleContext::spec(field);
        let name = context.text(&path).filter(|name| !name.is_empty())?;
        Some((path, name))
    };
    // What nobody needs may have any name.
    let needed = |one: &&Reference<'_>| !one.is_optional && one.needed_by != NeededBy::Nobody;
    let names = context.references().iter().filter(needed).map(|one| (one.path.clone(), one.name));
    let objects = names.chain(written(account));
    let objects = objects.filter_map(|(path, name)| Some((path, ObjectName::parse(name).err()?)));
    let namespaces = namespaces.iter().filter_map(|field| written(field));
    let namespaces = namespaces.filter_map(|(path, name)| Some((path, Namespace::parse(name).err()?)));
    for (path, fault) in objects.chain(namespaces) {
        report.add(Finding::new(&NAME, path, fault.to_string()));
    }
}
