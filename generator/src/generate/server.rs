//! Stage: port, workers and TLS of the server.

use super::draft::{Draft, spec_path};
use super::origin::Origin;
use super::tracked::Tracked;

/// Folder in which the operator mounts the Secret of `networking.tls.secretName`.
pub const TLS_MOUNT_PATH: &str = "/etc/llama-stack-tls";
/// The certificate in [`TLS_MOUNT_PATH`], named as in every Secret of type `kubernetes.io/tls`.
pub const TLS_CERTIFICATE: &str = "/etc/llama-stack-tls/tls.crt";
/// The private key in [`TLS_MOUNT_PATH`].
pub const TLS_KEY: &str = "/etc/llama-stack-tls/tls.key";

/// Writes `server.port`, `server.workers`, `server.tls_certfile` and `server.tls_keyfile`. llama-stack's start command
/// takes the port from elsewhere; the config says it for readers and other starters.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if let Some(workers) = draft.spec.workload.as_ref().and_then(|workload| workload.workers) {
        let origin = Origin::Resource(spec_path().key("workload").key("workers"));
        let server = draft.config.child_map("server", &origin).map_mut(&origin);
        server.insert("workers".to_owned(), Tracked::number(origin, workers));
    }
    let Some(networking) = &draft.spec.networking else { return };
    let at = spec_path().key("networking");
    if let Some(port) = networking.port {
        let origin = Origin::Resource(at.key("port"));
        let server = draft.config.child_map("server", &origin).map_mut(&origin);
        server.insert("port".to_owned(), Tracked::number(origin, port));
    }
    let Some(tls) = &networking.tls else { return };
    if tls.enabled == Some(true) && tls.secret_name.is_some() {
        let origin = Origin::Resource(at.key("tls").key("secretName"));
        let server = draft.config.child_map("server", &origin).map_mut(&origin);
        server.insert("tls_certfile".to_owned(), Tracked::text(origin.clone(), TLS_CERTIFICATE));
        server.insert("tls_keyfile".to_owned(), Tracked::text(origin, TLS_KEY));
    }
}
