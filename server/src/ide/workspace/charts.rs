//! What the templates of a Helm chart make of its other files.

use super::Workspace;
use crate::ide::file_names::{folder_of, from_folder, relative};
use crate::ide::objects::{ObjectKey, Objects};
use llsd_generator::chart::{ABOVE, Put, Source, fits};
use llsd_generator::config::mounting::Mount;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

/// The file of a chart that its templates call values.
const VALUES: &str = "values.yaml";

/// What a chart makes of one of its files.
#[derive(Debug, Default)]
pub(crate) struct Charted {
    /// What templates put whole into ConfigMaps of the file, if it holds the chart's values.
    pub(crate) puts: Vec<Put>,
    /// The ConfigMaps that templates make of the file, if it holds something else.
    pub(crate) made_into: Vec<ObjectKey>,
    /// What the chart's resources say to these ConfigMaps.
    pub(crate) mounts: Vec<Arc<Mount>>,
}

impl Workspace {
    /// What the templates of the chart around make of the file of the one who asks.
    pub(crate) fn charted(&self) -> Charted {
        let file = self.except.as_deref();
        file.and_then(|file| Some(self.charted_in(self.chart_of(file)?, file))).unwrap_or_default()
    }

    /// The folder, with a slash behind it, of the chart that a file belongs to.
    fn chart_of<'f>(&self, file: &'f str) -> Option<&'f str> {
        let above = |folder: &&'f str| Some(folder_of(folder.strip_suffix('/')?)).filter(|above| above != folder);
        let folders = std::iter::successors(Some(folder_of(file)), above).take(ABOVE);
        let is_chart = |folder: &&str| {
            let head = self.files.get(format!("{folder}Chart.yaml").as_str());
            head.is_some_and(|pieces| pieces.iter().any(|piece| piece.chart))
        };
        folders.into_iter().find(is_chart)
    }

    fn charted_in(&self, folder: &str, file: &str) -> Charted {
        let is_values = file.strip_prefix(folder) == Some(VALUES);
        let shown = from_folder(folder, file);
        let is_made_of = |put: &&Put| match &put.source {
            Source::Value(_) | Source::Text(_) => is_values,
            Source::File(path) => !is_values && relative(folder, path) == file,
            Source::Files(pattern) => !is_values && fits(pattern, &shown),
        };
        let puts: Vec<Put> = self.templates(folder).flat_map(|one| &one.puts).filter(is_made_of).cloned().collect();
        if puts.is_empty() {
            return Charted::default();
        }
        let owners: BTreeSet<&ObjectKey> = puts.iter().map(|put| &put.config_map).collect();
        let names = |mount: &&Arc<Mount>| owners.iter().any(|owner| mount.names(owner));
        let mounts = self.templates(folder).flat_map(|one| &one.mounts).filter(names).cloned().collect();
        let made_into = if is_values { Vec::new() } else { owners.into_iter().cloned().collect() };
        Charted { puts: if is_values { puts } else { Vec::new() }, made_into, mounts }
    }

    /// What the templates of the chart in a folder contribute.
    fn templates(&self, folder: &str) -> impl Iterator<Item = &Objects> {
        let start: Arc<str> = format!("{folder}templates/").into();
        let files = self.files.range((Bound::Included(Arc::clone(&start)), Bound::Unbounded));
        let files = files.take_while(move |(name, _)| name.starts_with(&*start));
        files.flat_map(|(_, pieces)| pieces.iter()).map(AsRef::as_ref)
    }
}

/// Whether charts make something else of files where one of these pieces takes the place of the other.
pub(super) fn differ(removed: &[Arc<Objects>], added: &[Arc<Objects>]) -> bool {
    let all = |pieces: &[Arc<Objects>]| -> (bool, Vec<Put>) {
        (pieces.iter().any(|piece| piece.chart), pieces.iter().flat_map(|piece| piece.puts.iter().cloned()).collect())
    };
    all(removed) != all(added)
}
