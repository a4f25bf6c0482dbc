//! The names in a resource.

use super::reader::Reader;
use super::{DocumentNames, Form, Occurrence, Role, Scope, Symbol, objects};
use crate::ide::document::DocumentAnalysis;
use crate::ide::knowledge;
use crate::ide::resource::Resource;
use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::{api_name, implied_id, provider_field};
use llsd_yaml::{Node, Span};

/// What llama-stack's own tool groups start with.
const BUILTIN: &str = "builtin::";

/// Notes the names of resource number `number` of the document, whose root is `root`.
pub(super) fn read<'d>(
    reader: &Reader<'d>,
    document: &'d DocumentAnalysis,
    number: usize,
    root: Node<'d>,
    names: &mut DocumentNames,
) {
    let Some(resource) = document.resources().get(number) else { return };
    let scope = names.scopes.len();
    names.scopes.push(scope_of(reader, resource, number, root));
    let out = &mut names.occurrences;
    let namespace = resource.namespace().to_owned();
    if let Some(name) = reader.at(root, &["metadata", "name"]) {
        let own = |name| Symbol::Resource((namespace.clone(), name));
        reader.note(name, None, Role::Declaration, own, out);
    }
    let Some(spec) = reader.get(root, "spec") else { return };
    objects::references(reader, spec, &namespace, out);
    let inside: &[&str] = match resource.version {
        ApiVersion::V1Alpha1 => &["server", "distribution", "name"],
        ApiVersion::V1Alpha2 => &["distribution", "name"],
        ApiVersion::OgxV1Beta1 => {
            super::ogx::read(reader, document, resource, scope, out);
            &[]
        }
    };
    if let Some(name) = reader.at(spec, inside).filter(|_| !inside.is_empty()) {
        reader.note(name, None, Role::Reference, Symbol::Distribution, out);
    }
    let env: &[&str] = match resource.version {
        ApiVersion::V1Alpha1 => &["server", "containerSpec", "env"],
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => &["workload", "overrides", "env"],
    };
    for entry in reader.at(spec, env).map(|list| reader.items(list)).unwrap_or_default() {
        reader.note_field(entry, "name", Some(scope), Role::Declaration, Symbol::Variable, out);
    }
    reader.note_variables(spec, scope, out);
    if resource.version == ApiVersion::V1Alpha2 {
        providers(reader, spec, scope, out);
        external(reader, spec, scope, out);
        registered(reader, spec, scope, out);
        for api in reader.get(spec, "disabled").map(|list| reader.items(list)).unwrap_or_default() {
            reader.note(api, Some(scope), Role::Reference, |name| Symbol::Api(api_name(&name)), out);
        }
    }
}

fn scope_of<'d>(reader: &Reader<'d>, resource: &Resource, number: usize, root: Node<'d>) -> Scope {
    let reference: &[&str] = match resource.version {
        ApiVersion::V1Alpha1 => &["spec", "server", "userConfig"],
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => &["spec", "overrideConfig"],
    };
    let config_map = reader.at(root, reference).and_then(|holder| {
        let text = |field: &str| reader.text(holder, &[field]).into_owned();
        let namespace = Some(text("configMapNamespace")).filter(|name| !name.is_empty());
        let name = text(if resource.version == ApiVersion::OgxV1Beta1 { "name" } else { "configMapName" });
        (!name.is_empty()).then(|| (namespace.unwrap_or_else(|| resource.namespace().to_owned()), name))
    });
    let (name, _) = knowledge::distribution(resource.version, &resource.value);
    // its base config is in its image, or in a ConfigMap
    let is_ogx = resource.version == ApiVersion::OgxV1Beta1;
    Scope {
        resource: Some(number),
        distribution: name.filter(|_| config_map.is_none() && !is_ogx).map(str::to_owned),
        config_map,
        owner: None,
    }
}

fn providers<'d>(reader: &Reader<'d>, spec: Node<'d>, scope: usize, out: &mut Vec<Occurrence>) {
    for entry in reader.get(spec, "providers").map(|map| reader.entries(map)).unwrap_or_default() {
        let field = entry.key.key_text();
        let Some((api, _)) = provider_field(&field) else { continue };
        reader.note(entry.key, Some(scope), Role::Reference, |_| Symbol::Api(api.to_owned()), out);
        let Some(value) = reader.real(entry.value) else { continue };
        // older drafts have an object in place of the list
        let list = if value.is_mapping() { vec![value] } else { reader.items(value) };
        for provider in list {
            self::provider(reader, provider, api, scope, out);
        }
    }
}

fn provider<'d>(reader: &Reader<'d>, provider: Node<'d>, api: &str, scope: usize, out: &mut Vec<Occurrence>) {
    let symbol = |id: String| Symbol::Provider { api: api.to_owned(), id };
    if let Some(id) = reader.get(provider, "id").filter(|id| !id.is_absent()) {
        return reader.note(id, Some(scope), Role::Declaration, symbol, out);
    }
    let Some(written) = reader.get(provider, "provider").and_then(|node| reader.name(node)) else { return };
    let id = implied_id(&written.name);
    if id.is_empty() {
        return;
    }
    let exact = written.span.len() == written.name.len();
    let (span, form) = match written.form {
        Form::Scalar { .. } if exact => {
            let span = Span::new(written.span.end - id.len(), written.span.end);
            (span, Form::Implicit { provider: provider.path() })
        }
        _ => (written.span, Form::Alias),
    };
    out.push(Occurrence { symbol: symbol(id.to_owned()), scope: Some(scope), span, role: Role::Declaration, form });
}

fn external<'d>(reader: &Reader<'d>, spec: Node<'d>, scope: usize, out: &mut Vec<Occurrence>) {
    for entry in reader.get(spec, "externalProviders").map(|map| reader.entries(map)).unwrap_or_default() {
        let api = api_name(&entry.key.key_text());
        for provider in reader.items(entry.value) {
            let symbol = |id| Symbol::Provider { api: api.clone(), id };
            reader.note_field(provider, "providerId", Some(scope), Role::Declaration, symbol, out);
        }
    }
}

fn registered<'d>(reader: &Reader<'d>, spec: Node<'d>, scope: usize, out: &mut Vec<Occurrence>) {
    let Some(resources) = reader.get(spec, "resources") else { return };
    let list = |field: &str| reader.get(resources, field).map(|list| reader.items(list)).unwrap_or_default();
    let scope = Some(scope);
    for model in list("models") {
        if model.is_scalar() {
            reader.note(model, scope, Role::Declaration, Symbol::Model, out);
            continue;
        }
        reader.note_field(model, "name", scope, Role::Declaration, Symbol::Model, out);
        let provider = |id| Symbol::Provider { api: "inference".to_owned(), id };
        reader.note_field(model, "provider", scope, Role::Reference, provider, out);
    }
    for shield in list("shields") {
        reader.note(shield, scope, Role::Declaration, Symbol::Shield, out);
    }
    for tool in list("tools") {
        let Some(written) = reader.name(tool) else { continue };
        let short = !written.name.contains("::");
        let name = if short { format!("{BUILTIN}{}", written.name) } else { written.name.into_owned() };
        let form = match written.form {
            Form::Scalar { whole } if short => Form::Builtin { whole },
            other => other,
        };
        let role = Role::Declaration;
        out.push(Occurrence { symbol: Symbol::ToolGroup(name), scope, span: written.span, role, form });
    }
}
