//! A namespace of a test, and what is in it.

use super::wait_until;
use crate::cluster::{Answer, Cluster, Request};
use llsd_test_client::comes_about;
use serde_json::{Value, json};

/// The collection of a kind in a namespace. Kinds go by their plural names; `llamastackdistributions` is v1alpha2's,
/// and `v1alpha1` is the same in the other version.
///
/// # Panics
///
/// If the kind is not one that tests look at.
#[must_use]
pub fn path(namespace: &str, plural: &str) -> String {
    let (api, plural) = match plural {
        "configmaps"
        | "endpoints"
        | "events"
        | "persistentvolumeclaims"
        | "pods"
        | "secrets"
        | "serviceaccounts"
        | "services" => ("/api/v1", plural),
        "deployments" | "replicasets" => ("/apis/apps/v1", plural),
        "horizontalpodautoscalers" => ("/apis/autoscaling/v2", plural),
        "poddisruptionbudgets" => ("/apis/policy/v1", plural),
        "ingresses" | "networkpolicies" => ("/apis/networking.k8s.io/v1", plural),
        "rolebindings" => ("/apis/rbac.authorization.k8s.io/v1", plural),
        "leases" => ("/apis/coordination.k8s.io/v1", plural),
        "llamastackdistributions" => ("/apis/llamastack.io/v1alpha2", plural),
        "ogxservers" => ("/apis/ogx.io/v1beta1", plural),
        "v1alpha1" => ("/apis/llamastack.io/v1alpha1", "llamastackdistributions"),
        _ => panic!("no path for {plural}"),
    };
    format!("{api}/namespaces/{namespace}/{plural}")
}

/// The condition of a type; null if there is none.
#[must_use]
pub fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.find(|condition| condition["type"] == kind).unwrap_or(&Value::Null)
}

/// A namespace, and short ways to what is in it.
#[derive(Clone)]
pub struct Namespace {
    cluster: &'static Cluster,
    name: String,
}

impl Namespace {
    /// Creates a namespace.
    ///
    /// # Panics
    ///
    /// If there is one of this name.
    #[must_use]
    pub fn create(cluster: &'static Cluster, name: &str) -> Self {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let answer = cluster.send(Request::post("/api/v1/namespaces", &object));
        assert!(answer.accepted(), "{}", answer.message());
        Self { cluster, name: name.to_owned() }
    }

    /// `metadata.name` of the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cluster that it is in.
    #[must_use]
    pub fn cluster(&self) -> &'static Cluster {
        self.cluster
    }

    /// The address of an object.
    #[must_use]
    pub fn path(&self, plural: &str, name: &str) -> String {
        format!("{}/{name}", path(&self.name, plural))
    }

    /// Creates an object; kind, version and namespace are filled in by the server or here.
    #[must_use]
    pub fn try_post(&self, plural: &str, object: &Value) -> Answer {
        self.cluster.send(Request::post(path(&self.name, plural), object))
    }

    /// Creates an object.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn post(&self, plural: &str, object: &Value) -> Value {
        let answer = self.try_post(plural, object);
        assert!(answer.accepted(), "{plural}: {}\n{object:#}", answer.message());
        answer.body
    }

    /// Creates a resource of v1alpha2, or, where `plural` is `v1alpha1`, of that.
    pub fn resource(&self, plural: &str, name: &str, spec: Value) -> Value {
        let version = if plural == "v1alpha1" { plural } else { "v1alpha2" };
        let object = json!({
            "apiVersion": format!("llamastack.io/{version}"),
            "kind": "LlamaStackDistribution",
            "metadata": {"name": name},
            "spec": spec,
        });
        self.post(plural, &object)
    }

    /// Creates a ConfigMap in the namespace; panics if that is refused.
    pub fn config_map(&self, name: &str, data: Value) -> Value {
        self.post("configmaps", &json!({"metadata": {"name": name}, "data": data}))
    }

    /// Creates a Secret of texts in the namespace; panics if that is refused.
    pub fn secret(&self, name: &str, data: Value) -> Value {
        self.post("secrets", &json!({"metadata": {"name": name}, "stringData": data}))
    }

    /// Reads an object of the namespace; `None` if there is none of that name.
    #[must_use]
    pub fn try_get(&self, plural: &str, name: &str) -> Option<Value> {
        let answer = self.cluster.send(Request::get(self.path(plural, name)));
        answer.accepted().then_some(answer.body)
    }

    /// Reads an object.
    ///
    /// # Panics
    ///
    /// If it is not there.
    #[must_use]
    pub fn get(&self, plural: &str, name: &str) -> Value {
        self.try_get(plural, name).unwrap_or_else(|| panic!("{plural}/{name} is not there"))
    }

    /// The objects of a kind that a label selector picks; all of them for an empty one.
    #[must_use]
    pub fn list(&self, plural: &str, selector: &str) -> Vec<Value> {
        let selector = selector.replace('=', "%3D").replace(',', "%2C").replace('/', "%2F");
        let answer = self.cluster.send(Request::get(format!("{}?labelSelector={selector}", path(&self.name, plural))));
        answer.body["items"].as_array().cloned().unwrap_or_default()
    }

    /// Changes an object by a merge patch.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn merge(&self, plural: &str, name: &str, change: &Value) -> Value {
        let answer = self.cluster.send(Request::merge(self.path(plural, name), change));
        assert!(answer.accepted(), "{plural}/{name}: {}", answer.message());
        answer.body
    }

    /// Changes the spec of a resource of v1alpha2 by a merge patch.
    pub fn change(&self, name: &str, spec: Value) -> Value {
        self.merge("llamastackdistributions", name, &json!({"spec": spec}))
    }

    /// Deletes an object.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn delete(&self, plural: &str, name: &str) {
        let answer = self.cluster.send(Request::delete(self.path(plural, name)));
        assert!(answer.accepted(), "{plural}/{name}: {}", answer.message());
    }

    /// Waits until an object is as it should be, and returns it.
    ///
    /// # Panics
    ///
    /// If that does not come about. The object as it is then is in the message.
    pub fn wait(&self, plural: &str, name: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let as_wanted = comes_about(|| {
            last = self.try_get(plural, name).unwrap_or_default();
            !last.is_null() && holds(&last)
        });
        if as_wanted {
            return last;
        }
        if let Some(metadata) = last["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        panic!("waited in vain: {plural}/{name} {what}; it is now\n{last:#}");
    }

    /// Waits until a resource of v1alpha2 is as it should be.
    pub fn wait_for(&self, name: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        self.wait("llamastackdistributions", name, what, holds)
    }

    /// Waits until a resource is ready in its newest generation.
    pub fn ready(&self, name: &str) -> Value {
        self.wait_for(name, "is ready", |object| {
            object["status"]["phase"] == "Ready"
                && condition(object, "DeploymentReady")["observedGeneration"] == object["metadata"]["generation"]
        })
    }

    /// Waits until a condition has a status and a reason.
    pub fn wait_condition(&self, name: &str, kind: &str, status: &str, reason: &str) -> Value {
        self.wait_for(name, &format!("has {kind}={status} {reason}"), |object| {
            let condition = condition(object, kind);
            condition["status"] == status && condition["reason"] == reason
        })
    }

    /// Waits until an object is gone.
    ///
    /// # Panics
    ///
    /// If that does not come about.
    pub fn gone(&self, plural: &str, name: &str) {
        wait_until(&format!("{plural}/{name} goes"), || self.try_get(plural, name).is_none());
    }

    /// The Events about a resource with a reason.
    #[must_use]
    pub fn events(&self, name: &str, reason: &str) -> Vec<Value> {
        let events = self.list("events", "");
        let about = |event: &Value| event["involvedObject"]["name"] == name && event["reason"] == reason;
        events.into_iter().filter(about).collect()
    }

    /// Waits for an Event about a resource, and returns the first.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub fn event(&self, name: &str, reason: &str) -> Value {
        wait_until(&format!("an Event {reason} about {name}"), || !self.events(name, reason).is_empty());
        self.events(name, reason).swap_remove(0)
    }
}
