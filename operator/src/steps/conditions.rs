//! Conditions of the status: one of each type, whose time moves only when its status does.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The Deployment has all its pods.
pub const DEPLOYMENT_READY: &str = "DeploymentReady";
/// The server can be used.
pub const HEALTH_CHECK: &str = "HealthCheck";
/// The PersistentVolumeClaim is bound; absent if the resource asks for no storage.
pub const STORAGE_READY: &str = "StorageReady";
/// The Service exists, so that clients have an address.
pub const SERVICE_READY: &str = "ServiceReady";
/// The configuration was generated; false tells why it was not.
pub const CONFIG_GENERATED: &str = "ConfigGenerated";
/// The Deployment has the generated configuration.
pub const DEPLOYMENT_UPDATED: &str = "DeploymentUpdated";
/// Pods with the current configuration serve.
pub const AVAILABLE: &str = "Available";
/// Every Secret that the resource refers to exists and has the key.
pub const SECRETS_RESOLVED: &str = "SecretsResolved";
/// Only those whom the resource lets in can connect. It is there only where the resource says whom.
pub const ACCESS_RESTRICTED: &str = "AccessRestricted";

/// The resource is what it asks for: the one condition that tools look at that know nothing of this resource, such as
/// `kubectl wait`, kstatus, Flux and Argo CD.
pub const READY: &str = "Ready";
/// It gets no further without somebody's help. kstatus reads it; it is there only while it is true.
pub const STALLED: &str = "Stalled";

/// The volume of another resource belongs to this one; absent if none is to be taken over.
pub const STORAGE_ADOPTED: &str = "StorageAdopted";
/// The Service of another resource leads to this one's pods; absent if none is to be taken over.
pub const NETWORKING_ADOPTED: &str = "NetworkingAdopted";
/// An annotation that asks for an adoption is wrong; absent while none is.
pub const ADOPTION_CONFIG_INVALID: &str = "AdoptionConfigInvalid";

/// The external providers are installed in all pods; absent if there are none.
pub const EXTERNAL_PROVIDERS_READY: &str = "ExternalProvidersReady";

/// A condition as it should be; times and generation are added by [`Conditions::finish`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    type_: &'static str,
    status: bool,
    reason: &'static str,
    message: String,
}

/// The conditions of one status, in the order in which they are set.
#[derive(Debug, Default)]
pub struct Conditions {
    wanted: Vec<Wanted>,
}

/// Bytes of a message: with more than 32,768 characters the API server refuses the whole status.
const LONGEST: usize = 32_000;

impl Conditions {
    /// Sets a condition; the last word on a type counts.
    pub fn set(&mut self, type_: &'static str, status: bool, reason: &'static str, message: impl Into<String>) {
        let mut message = message.into();
        if message.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| message.is_char_boundary(*end)).unwrap_or_default();
            message.truncate(end);
            message.push('…');
        }
        self.wanted.retain(|wanted| wanted.type_ != type_);
        self.wanted.push(Wanted { type_, status, reason, message });
    }

    /// The conditions, given those that the resource has now.
    #[must_use]
    pub fn finish(self, before: &[Condition], generation: Option<i64>, now: &Time) -> Vec<Condition> {
        let finish = |wanted: Wanted| {
            let status = if wanted.status { "True" } else { "False" };
            let known = before.iter().find(|known| known.type_ == wanted.type_ && known.status == status);
            Condition {
                last_transition_time: known.map_or_else(|| now.clone(), |known| known.last_transition_time.clone()),
                message: wanted.message,
                observed_generation: generation,
                reason: wanted.reason.to_owned(),
                status: status.to_owned(),
                type_: wanted.type_.to_owned(),
            }
        };
        self.wanted.into_iter().map(finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_moves_with_the_status_only() {
        let early = Time("2026-01-01T00:00:00Z".parse().unwrap());
        let late = Time("2026-01-02T00:00:00Z".parse().unwrap());
        let set = |status, message: &str| {
            let mut conditions = Conditions::default();
            conditions.set(AVAILABLE, status, "Reason", message);
            conditions
        };
        let first = set(true, "1/2").finish(&[], Some(1), &early);
        let second = set(true, "2/2").finish(&first, Some(2), &late);
        assert_eq!(
            (&second[0].last_transition_time, second[0].message.as_str(), second[0].observed_generation),
            (&early, "2/2", Some(2))
        );
        let third = set(false, "0/2").finish(&second, Some(2), &late);
        assert_eq!(third[0].last_transition_time, late);
    }

    #[test]
    fn there_is_one_of_each_type() {
        let mut conditions = Conditions::default();
        conditions.set(AVAILABLE, true, "A", "");
        conditions.set(AVAILABLE, false, "B", "");
        let all = conditions.finish(&[], None, &Time("2026-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].reason, "B");
    }
}
