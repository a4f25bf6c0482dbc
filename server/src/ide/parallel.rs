//! A file of many documents that are all new: they are worked on by all processors, because somebody waits for it to
//! open. One document after the other, what a key changed is done sooner than a second thread wakes up.

use super::document::{DocumentAnalysis, Retention};
use super::file::File;
use super::{Stop, form, read};
use llsd_yaml::split_documents;
use rayon::prelude::*;
use std::sync::Arc;

/// Documents from which on it pays to wake other threads: that takes about a tenth of a millisecond, and so does one
/// document.
const SEVERAL: usize = 16;

/// The documents of a text. `None`: stopped.
pub(super) fn documents(text: &str, stop: Stop<'_>) -> Option<Vec<Arc<DocumentAnalysis>>> {
    let texts: Vec<&str> = split_documents(text).iter().map(|span| span.slice(text)).collect();
    let one = |number: usize| {
        let before = number.checked_sub(1).map_or("", |before| texts[before]);
        (!stop())
            .then(|| Arc::new(read(texts[number], Retention::Diagnostics, form::is_dropped(before, texts[number]))))
    };
    if texts.len() < SEVERAL {
        (0..texts.len()).map(one).collect()
    } else {
        (0..texts.len()).into_par_iter().map(one).collect()
    }
}

/// Judges the documents that nobody has asked about, and looks for their names.
pub(super) fn judge(file: &File, stop: Stop<'_>) {
    let new: Vec<_> = file.unjudged().collect();
    if new.len() >= SEVERAL {
        new.into_par_iter().filter(|_| !stop()).for_each(|document| {
            document.diagnostics();
            document.names();
        });
    }
}
