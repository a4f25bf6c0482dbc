//! What all children have in common: names, labels, the owner reference.

use super::{BuildError, Child, INSTANCE, Kind, MANAGED_BY, Owner, PART_OF};
use serde_json::{Map, Value, json};

/// What the pods of a resource are found by. Deployments cannot change it.
pub(super) fn selector(owner: &Owner) -> Value {
    json!({"app": owner.served.app, INSTANCE: owner.name})
}

/// The labels of children, beside which some kinds have more.
pub(super) fn labels<const N: usize>(owner: &Owner, more: [(&str, &str); N]) -> Map<String, Value> {
    let served = owner.served;
    let all = [(MANAGED_BY, served.manager), (PART_OF, served.part_of), (served.watch, "true")];
    all.into_iter().chain(more).map(|(key, value)| (key.to_owned(), json!(value))).collect()
}

/// A child of the kind's usual name. `parts` are the fields beside `apiVersion`, `kind` and `metadata`.
pub(super) fn child(kind: Kind, owner: &Owner, labels: Map<String, Value>, parts: Value) -> Child {
    named(kind, kind.name(&owner.name), owner, labels, parts)
}

/// A child of another name.
pub(super) fn named(kind: Kind, name: String, owner: &Owner, labels: Map<String, Value>, parts: Value) -> Child {
    let (group, version, kubernetes_kind) = kind.gvk();
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut object = json!({
        "apiVersion": api_version,
        "kind": kubernetes_kind,
        "metadata": {
            "name": name,
            "namespace": owner.namespace,
            "labels": labels,
            "ownerReferences": [owner_reference(owner)],
        },
    });
    if let (Some(object), Value::Object(parts)) = (object.as_object_mut(), parts) {
        object.extend(parts);
    }
    Child { kind, object, is_left_alone: false }
}

/// The reference that makes the resource the controller of a child.
#[must_use]
pub fn owner_reference(owner: &Owner) -> Value {
    json!({
        "apiVersion": owner.served.owner_version.api_version(),
        "kind": owner.served.kind().name(),
        "name": owner.name,
        "uid": owner.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// Names of children are DNS labels. The resource's name may be too long or have dots where it is older than the rule
/// of the CRD, or where no rules were checked.
pub(super) fn check_name(owner: &Owner) -> Result<(), BuildError> {
    let name = &owner.name;
    let most = owner.served.max_name;
    if name.len() > most {
        return Err(BuildError::Name(format!(
            "the resource's name has {} characters, at most {most} leave room for suffixes such as \
             \"-network-policy\". Create it again under a shorter name",
            name.len()
        )));
    }
    if name.contains('.') {
        return Err(BuildError::Name(
            "the resource's name has a dot, which names of Services cannot have. Create it again under another name"
                .to_owned(),
        ));
    }
    Ok(())
}
