//! What the status says of the pods: how far the Deployment has got.

use crate::steps::Refusal;
use crate::steps::conditions::{self, Conditions};
use crate::stores::deployments::DeploymentState;
use llsd_generator::api::status::Phase;

pub(super) fn is_ready(deployment: Option<&DeploymentState>) -> bool {
    deployment.is_some_and(|state| !state.is_rolling_out() && state.ready == state.wanted && state.ready > 0)
}

pub(super) fn phase(deployment: Option<&DeploymentState>, problem: Option<&str>) -> Phase {
    match deployment {
        _ if problem.is_some() => Phase::Failed,
        None => Phase::Pending,
        Some(state) if !state.is_rolling_out() && state.ready == state.wanted => Phase::Ready,
        Some(_) => Phase::Initializing,
    }
}

pub(super) fn deployment_ready(
    conditions: &mut Conditions,
    deployment: Option<&DeploymentState>,
    problem: Option<&str>,
) {
    let (ready, message) = match (problem, deployment) {
        (Some(problem), _) => (false, format!("Resource reconciliation failed: {problem}")),
        (None, None) => (false, "Deployment is pending".to_owned()),
        (None, Some(state)) => match &state.stuck {
            Some(reason) if state.ready < state.wanted => (false, format!("Deployment does not get on: {reason}")),
            _ if state.ready == 0 && state.wanted > 0 => (false, "Deployment is pending".to_owned()),
            _ if !state.observed || state.replicas > state.updated => {
                let current = state.current(state.ready);
                (false, format!("Deployment is rolling out: {current}/{} replicas ready", state.wanted))
            }
            _ if state.ready < state.wanted => {
                (false, format!("Deployment is scaling: {}/{} replicas ready", state.ready, state.wanted))
            }
            _ if state.ready > state.wanted => {
                (false, format!("Deployment is scaling down: {}/{} replicas ready", state.ready, state.wanted))
            }
            _ => (true, "Deployment is ready".to_owned()),
        },
    };
    let reason = if ready { "DeploymentReady" } else { "DeploymentFailed" };
    conditions.set(conditions::DEPLOYMENT_READY, ready, reason, message);
}

/// One word for tools, and why.
pub(super) fn ready(
    conditions: &mut Conditions,
    deployment: Option<&DeploymentState>,
    secrets: Option<&Refusal>,
    problem: Option<&str>,
) {
    match (problem, deployment) {
        (Some(problem), _) => {
            conditions.set(conditions::READY, false, "Failed", problem);
            conditions.set(conditions::STALLED, true, "Failed", problem);
        }
        (None, Some(state)) if !state.is_rolling_out() && state.ready == state.wanted => {
            conditions.set(conditions::READY, true, "Ready", "The server has all its pods, with the current config");
        }
        (None, _) if secrets.is_some() => {
            let message = secrets.map(|problem| problem.message.clone()).unwrap_or_default();
            conditions.set(conditions::READY, false, "SecretsMissing", message);
        }
        (None, Some(state)) => match &state.stuck {
            Some(reason) if state.ready < state.wanted => {
                conditions.set(conditions::READY, false, "DeploymentStuck", reason.clone());
            }
            _ => {
                let current = state.current(state.ready);
                let message = format!("{current} of {} pods with the current config are ready", state.wanted);
                conditions.set(conditions::READY, false, "Progressing", message);
            }
        },
        (None, None) => conditions.set(conditions::READY, false, "Progressing", "There is no Deployment yet"),
    }
}

pub(super) fn health(conditions: &mut Conditions, deployment: Option<&DeploymentState>) {
    if is_ready(deployment) {
        conditions.set(conditions::HEALTH_CHECK, true, "HealthCheckPassed", "Health check passed");
    } else {
        conditions.set(conditions::HEALTH_CHECK, false, "HealthCheckFailed", "Deployment not ready");
    }
}

pub(super) fn available(conditions: &mut Conditions, deployment: Option<&DeploymentState>) {
    let Some(state) = deployment else {
        conditions.set(conditions::AVAILABLE, false, "ReplicasUnavailable", "There is no Deployment yet");
        return;
    };
    // Pods of an older revision serve with an older configuration.
    let current = state.current(state.available);
    let message = format!("{current}/{} replicas available with current config", state.wanted);
    match () {
        () if state.is_rolling_out() => conditions.set(conditions::AVAILABLE, false, "RolloutInProgress", message),
        () if state.available < state.wanted => {
            conditions.set(conditions::AVAILABLE, false, "ReplicasUnavailable", message)
        }
        () => conditions.set(conditions::AVAILABLE, true, "MinimumReplicasAvailable", message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(wanted: i32, updated: i32, ready: i32) -> DeploymentState {
        DeploymentState {
            wanted,
            replicas: updated,
            updated,
            ready,
            available: ready,
            observed: true,
            ..DeploymentState::default()
        }
    }

    #[test]
    fn phases() {
        assert_eq!(phase(None, None), Phase::Pending);
        assert_eq!(phase(Some(&state(1, 1, 0)), None), Phase::Initializing);
        assert_eq!(phase(Some(&state(3, 3, 3)), None), Phase::Ready);
        assert_eq!(phase(Some(&state(0, 0, 0)), None), Phase::Ready);
        assert_eq!(phase(Some(&state(2, 1, 2)), None), Phase::Initializing, "pods of an older revision are ready");
        assert_eq!(phase(Some(&DeploymentState { observed: false, ..state(1, 1, 1) }), None), Phase::Initializing);
        assert_eq!(phase(Some(&state(1, 1, 1)), Some("x")), Phase::Failed);
    }
}
