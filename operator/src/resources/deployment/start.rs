//! How the server is started.

use super::super::service::has_tls;
use super::super::{Config, Desired};
use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::Overrides;
use sha2::{Digest, Sha256};

/// The script that starts the server with a configuration of a v1alpha1 resource. Which command that is depends on the
/// version of llama-stack in the image: below 0.2.17, below 0.3.0, or later. Suffixes such as `rc2` do not count, and a
/// version that cannot be found out counts as a late one.
pub const SCRIPT: &str = include_str!("start.sh");

/// SHA-256 of scripts that the Go operator wrote and that do the same as [`SCRIPT`]. A Deployment that runs one keeps
/// it: another text would restart the pods for nothing.
const OTHERS: [&str; 1] = ["98b2c6f987fbda25006ada62dc5bd062329bca23e7ad76cac30246d29166ac12"];

/// Whether a script is [`SCRIPT`] or does the same.
pub(in super::super) fn is_known(script: &str) -> bool {
    let digest = Sha256::digest(script.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    script == SCRIPT || OTHERS.contains(&digest.as_str())
}

/// How the container starts the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// `None` for the image's own.
    pub(super) command: Option<Vec<String>>,
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    User,
    Script,
    Image,
}

impl Start {
    /// Whether the image's entry point runs, which reads `RUN_CONFIG_PATH` and `LLAMA_STACK_PORT`.
    pub(super) fn is_image(&self) -> bool {
        self.by == By::Image
    }
}

pub(super) fn of(desired: &Desired<'_>) -> Start {
    if let Some(command) = overrides(desired).and_then(|own| own.command.clone()).filter(|command| !command.is_empty())
    {
        // A command next to a generated configuration is likely to call `llama stack run`: it gets the variables too.
        let by = if matches!(desired.config, Config::Generated { .. }) { By::Image } else { By::User };
        return Start { command: Some(command), by };
    }
    match script(desired) {
        Some(script) => {
            let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
            Start { command: Some(command), by: By::Script }
        }
        None => Start { command: None, by: By::Image },
    }
}

/// The script, where one is to run. The server's TLS is only known to the image's own start command.
fn script<'a>(desired: &Desired<'a>) -> Option<&'a str> {
    if !matches!(desired.config, Config::Override { .. }) || has_tls(desired.spec) {
        return None;
    }
    match desired.live.filter(|live| live.has_config) {
        Some(live) if live.script.is_some() => live.script.as_deref(),
        Some(live) if !live.has_command => None,
        _ => (desired.written_as == ApiVersion::V1Alpha1).then_some(SCRIPT),
    }
}

pub(super) fn args(desired: &Desired<'_>) -> Option<Vec<String>> {
    overrides(desired).and_then(|own| own.args.clone()).filter(|args| !args.is_empty())
}

/// Whether the user's arguments say which port to listen on.
pub(super) fn has_port_argument(desired: &Desired<'_>) -> bool {
    args(desired).is_some_and(|args| args.iter().any(|arg| arg == "--port" || arg.starts_with("--port=")))
}

fn overrides<'a>(desired: &Desired<'a>) -> Option<&'a Overrides> {
    desired.spec.workload.as_ref()?.overrides.as_ref()
}
