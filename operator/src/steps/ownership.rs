//! Whose a child is, and the fields of it.

use crate::api::{self, Api, GroupVersionResource};
use crate::queue::Key;
use crate::resources::{Child, Owner};
use crate::served::Served;
use crate::stores::ChildRecord;
use crate::stores::children::{is_apply, is_ours, union};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use llsd_generator::names::ObjectName;
use serde_json::{Value, json};

/// Whether the operator may write an object of a child's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Its controller is the resource: fields may be written, and it may be deleted.
    Ours,
    /// It has the operator's label and lost its owner, as full updates of the Go operator left Deployments.
    Lost,
    /// Somebody else's: what is wrong, for the condition.
    Foreign(String),
}

/// Looks at who controls an object.
#[must_use]
pub fn ownership_of(child: &Child, record: &ChildRecord, owner: &Owner) -> Ownership {
    match &record.owner {
        Some(uid) if **uid == owner.uid => Ownership::Ours,
        None if record.labelled => Ownership::Lost,
        controller => Ownership::Foreign(foreign(child, controller.as_deref())),
    }
}

/// What to say of an object that is not ours.
#[must_use]
pub fn foreign(child: &Child, controller: Option<&str>) -> String {
    let (_, _, kind) = child.kind.gvk();
    let controlled = match controller {
        Some(uid) => format!("is controlled by another object (UID {uid})"),
        None => "is not managed by this operator".to_owned(),
    };
    format!("{kind} \"{}\" {controlled} and is left alone. Rename or delete it, or rename the resource", child.name())
}

/// What to say of an object that another resource has taken over.
#[must_use]
pub fn adopted(child: &Child, by: &str) -> String {
    let (_, _, kind) = child.kind.gvk();
    format!(
        "{kind} \"{}\" was handed over to OGXServer \"{by}\" and is left alone. Delete this resource once that one serves",
        child.name()
    )
}

/// Moves the fields of the Go operator, and those from a creation, to the entry of this operator's server-side apply:
/// only what that entry owns goes away when it is no longer applied. With `release_replicas` the replica count of a
/// Deployment is given up instead: it stays what it is, and is for an autoscaler to change.
///
/// # Errors
/// What the API server says; 409 or 422 if the object has changed meanwhile.
pub async fn take_over(
    api: &Api,
    resource: GroupVersionResource,
    (key, owner): (&Key, &Owner),
    name: &ObjectName,
    release_replicas: bool,
) -> api::Result<()> {
    let Some(object) = api.metadata(resource, &key.namespace, name).await? else { return Ok(()) };
    let entries: Option<Vec<ManagedFieldsEntry>> =
        serde_json::from_value(object["metadata"]["managedFields"].clone()).map_err(api::ApiError::Unreadable)?;
    let entries = entries.unwrap_or_default();
    let Some(entries) = joined(entries, owner.served, &owner.name, release_replicas) else { return Ok(()) };
    let patch = json!([
        {"op": "test", "path": "/metadata/uid", "value": object["metadata"]["uid"]},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": object["metadata"]["resourceVersion"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
    ]);
    api.json_patch(resource, &key.namespace, name, &patch).await.map(drop)
}

/// The entries with all of ours in one; `None` if there is nothing to join.
fn joined(
    entries: Vec<ManagedFieldsEntry>,
    served: &Served,
    resource: &str,
    release_replicas: bool,
) -> Option<Vec<ManagedFieldsEntry>> {
    let is_main = |entry: &ManagedFieldsEntry| entry.subresource.as_deref().unwrap_or_default().is_empty();
    let (ours, mut others): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| is_main(entry) && is_ours(entry, Some(resource), served));
    let mut fields: Value = union(ours.iter().filter_map(|entry| Some(&entry.fields_v1.as_ref()?.0)));
    let spec = fields.get_mut("f:spec").and_then(Value::as_object_mut).filter(|_| release_replicas);
    let released = spec.is_some_and(|spec| spec.shift_remove("f:replicas").is_some());
    if ours.iter().all(|entry| is_apply(entry, served)) && !released {
        return None;
    }
    let last = ours.iter().max_by_key(|entry| is_apply(entry, served))?;
    others.push(ManagedFieldsEntry {
        manager: Some(served.manager.to_owned()),
        operation: Some("Apply".to_owned()),
        subresource: None,
        fields_v1: Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::FieldsV1(fields)),
        ..last.clone()
    });
    Some(others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::LLAMA_STACK;

    fn entry(manager: &str, operation: &str, subresource: &str, fields: Value) -> ManagedFieldsEntry {
        serde_json::from_value(json!({
            "manager": manager, "operation": operation, "subresource": subresource,
            "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": fields,
        }))
        .unwrap()
    }

    #[test]
    fn entries_of_both_operators_become_one() {
        let entries = vec![
            entry("manager", "Update", "", json!({"f:spec": {"f:a": {}}})),
            entry("demo", "Apply", "", json!({"f:spec": {"f:b": {}}})),
            entry("kube-controller-manager", "Update", "status", json!({"f:status": {}})),
            entry("kubectl-edit", "Update", "", json!({"f:spec": {"f:c": {}}})),
        ];
        let joined = joined(entries, &LLAMA_STACK, "demo", false).unwrap();
        assert_eq!(joined.len(), 3);
        let ours = joined.last().unwrap();
        assert!(is_apply(ours, &LLAMA_STACK));
        assert_eq!(ours.fields_v1.as_ref().unwrap().0, json!({"f:spec": {"f:a": {}, "f:b": {}}}));
    }

    #[test]
    fn what_is_joined_already_is_left_alone() {
        let entries = vec![entry(LLAMA_STACK.manager, "Apply", "", json!({"f:spec": {}}))];
        assert_eq!(joined(entries, &LLAMA_STACK, "demo", false), None);
    }
}
