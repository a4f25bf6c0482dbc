//! Which field of v1alpha1 became which of v1alpha2.

use llsd_generator::path::{Path, Segment};

/// Objects that were taken apart, and the object that most of their fields went to, or the first of them: comments on the
/// one follow there.
const SECTIONS: [(&str, &str); 6] = [
    ("spec.server", "spec.distribution"),
    ("spec.server.containerSpec", "spec.workload.overrides"),
    ("spec.server.podOverrides", "spec.workload.overrides"),
    ("spec.server.userConfig", "spec.overrideConfig"),
    ("spec.server.tlsConfig", "spec.networking.tls"),
    ("spec.network", "spec.networking"),
];

/// The moves of one migration.
#[derive(Debug)]
pub(super) struct Moves(Vec<(Path, Path)>);

impl Moves {
    /// Those of the migration, and of the sections above them.
    pub(super) fn new(moves: Vec<(Path, Path)>) -> Self {
        let sections = SECTIONS.iter().map(|(old, new)| (Path::parse(old), Path::parse(new)));
        let mut all: Vec<_> = moves.into_iter().chain(sections).collect();
        // of several that fit, the innermost counts
        all.sort_by_key(|(old, _)| std::cmp::Reverse(old.segments().len()));
        Self(all)
    }

    /// Where the field at `old` is now; fields that no move names stay where they are.
    pub(super) fn new_place(&self, old: &Path) -> Path {
        self.0.iter().find_map(|(from, to)| replace_start(old, from, to)).unwrap_or_else(|| old.clone())
    }

    /// Where the parts of `old` are now, in the order in which they were written.
    pub(super) fn inside<'m>(&'m self, old: &'m Path) -> impl Iterator<Item = &'m Path> {
        let mut parts: Vec<&(Path, Path)> = self.0.iter().filter(|(from, _)| from.starts_with(old)).collect();
        parts.sort_by(|(one, _), (other, _)| one.cmp(other));
        parts.into_iter().map(|(_, to)| to)
    }

    /// Places where the field at `new` may have been, best first.
    pub(super) fn old_places(&self, new: &Path) -> Vec<Path> {
        let mut fitting: Vec<_> = self.0.iter().filter(|(_, to)| new.starts_with(to)).collect();
        fitting.sort_by_key(|(_, to)| std::cmp::Reverse(to.segments().len()));
        let mut places: Vec<Path> = fitting.into_iter().filter_map(|(from, to)| replace_start(new, to, from)).collect();
        places.push(new.clone());
        places
    }
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
        let path = Path::parse;
        let moves = Moves::new(vec![
            (path("spec.server.containerSpec.env"), path("spec.workload.overrides.env")),
            (path("spec.server.containerSpec.env[0].value"), path("spec.providers.inference[0].endpoint")),
        ]);
        let old = path("spec.server.containerSpec.env[1].name");
        let new = path("spec.workload.overrides.env[1].name");
        assert_eq!(moves.new_place(&old), new);
        assert!(moves.old_places(&new).contains(&old));
        let folded = path("spec.server.containerSpec.env[0].value");
        assert_eq!(moves.new_place(&folded).to_string(), "spec.providers.inference[0].endpoint");
        assert_eq!(moves.new_place(&path("metadata.name")).to_string(), "metadata.name");
    }
}
