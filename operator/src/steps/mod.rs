//! The steps of a reconcile, in this order: look up what the resource refers to, settle image and base config, judge
//! and generate, build the children, apply them, tell the status.

pub mod adopt;
pub mod apply;
pub mod conditions;
pub mod dereference;
pub mod judge;
pub mod ogx;
pub mod ownership;
pub mod resolve;
pub mod retain;
pub mod status;

/// Why a resource cannot become what it asks for. The running server is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The condition that tells it.
    pub condition: &'static str,
    /// The `reason` of that condition, in the words of the Kubernetes API conventions.
    pub reason: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl Refusal {
    /// Something about the children, told by `DeploymentReady`.
    pub fn resources(message: impl Into<String>) -> Self {
        Self { condition: conditions::DEPLOYMENT_READY, reason: "DeploymentFailed", message: message.into() }
    }

    /// Something about the generated configuration.
    pub fn config(reason: &'static str, message: impl Into<String>) -> Self {
        Self { condition: conditions::CONFIG_GENERATED, reason, message: message.into() }
    }

    /// Something about the annotations that ask for an adoption.
    pub fn adoption(message: impl Into<String>) -> Self {
        let condition = conditions::ADOPTION_CONFIG_INVALID;
        Self { condition, reason: "InvalidAnnotation", message: message.into() }
    }

    /// Something about Secrets or ConfigMaps, told by `SecretsResolved`.
    pub fn secrets(reason: &'static str, message: impl Into<String>) -> Self {
        Self { condition: conditions::SECRETS_RESOLVED, reason, message: message.into() }
    }
}
