//! Which field of v1alpha1 became which of v1alpha2.

use llsd_generator::path::{Path, Segment};

/// Old place, new place; what lies below moves along. Longer old places come before those that hold them.
const MOVES: [(&str, &str); 20] = [
    ("spec.server.distribution", "spec.distribution"),
    ("spec.server.containerSpec.port", "spec.networking.port"),
    ("spec.server.containerSpec.resources", "spec.workload.resources"),
    ("spec.server.containerSpec.env", "spec.workload.overrides.env"),
    ("spec.server.containerSpec.command", "spec.workload.overrides.command"),
    ("spec.server.containerSpec.args", "spec.workload.overrides.args"),
    ("spec.server.containerSpec", "spec.workload.overrides"),
    ("spec.server.userConfig.configMapName", "spec.overrideConfig.configMapName"),
    ("spec.server.userConfig", "spec.overrideConfig"),
    ("spec.server.storage", "spec.workload.storage"),
    ("spec.server.tlsConfig.caBundle", "spec.networking.tls.caBundle"),
    ("spec.server.tlsConfig", "spec.networking.tls"),
    ("spec.server.podOverrides", "spec.workload.overrides"),
    ("spec.server.autoscaling", "spec.workload.autoscaling"),
    ("spec.server.podDisruptionBudget", "spec.workload.podDisruptionBudget"),
    ("spec.server.topologySpreadConstraints", "spec.workload.topologySpreadConstraints"),
    ("spec.server.workers", "spec.workload.workers"),
    ("spec.replicas", "spec.workload.replicas"),
    ("spec.network.exposeRoute", "spec.networking.expose"),
    ("spec.network", "spec.networking"),
];

/// Where the field at `old` is now; fields that no move names stay where they are.
pub(super) fn new_place(old: &Path) -> Path {
    let moved = MOVES.iter().find_map(|(from, to)| replace_start(old, &Path::parse(from), &Path::parse(to)));
    moved.unwrap_or_else(|| old.clone())
}

/// Places where the field at `new` may have been, best first.
pub(super) fn old_places(new: &Path) -> Vec<Path> {
    let mut places: Vec<Path> =
        MOVES.iter().filter_map(|(from, to)| replace_start(new, &Path::parse(to), &Path::parse(from))).collect();
    places.push(new.clone());
    places
}

fn replace_start(path: &Path, from: &Path, to: &Path) -> Option<Path> {
    let rest: &[Segment] = path.segments().strip_prefix(from.segments())?;
    Some(to.segments().iter().chain(rest).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_there_and_back() {
        let old = Path::parse("spec.server.containerSpec.env[0].name");
        let new = Path::parse("spec.workload.overrides.env[0].name");
        assert_eq!(new_place(&old), new);
        assert!(old_places(&new).contains(&old));
        assert_eq!(new_place(&Path::parse("metadata.name")).to_string(), "metadata.name");
    }
}
