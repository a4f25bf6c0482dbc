//! `workspace/didCreateFiles`, `didRenameFiles` and `didDeleteFiles`: what the user did in the editor itself. Clients
//! that watch files say so once more; looking twice does no harm.

use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{convert, files};
use std::sync::Arc;
use tower_lsp::lsp_types::{CreateFilesParams, DeleteFilesParams, RenameFilesParams, Url};

/// New files and folders.
pub(in crate::lsp) fn created(backend: &Backend, params: CreateFilesParams) {
    params.files.iter().for_each(|file| appeared(&backend.shared, &file.uri));
}

/// Files and folders with another name.
pub(in crate::lsp) fn renamed(backend: &Backend, params: RenameFilesParams) {
    for file in &params.files {
        disappeared(&backend.shared, &file.old_uri);
        appeared(&backend.shared, &file.new_uri);
    }
}

/// Files and folders that are gone.
pub(in crate::lsp) fn deleted(backend: &Backend, params: DeleteFilesParams) {
    params.files.iter().for_each(|file| disappeared(&backend.shared, &file.uri));
}

fn appeared(shared: &Arc<Shared>, uri: &str) {
    let Ok(uri) = Url::parse(uri) else { return };
    if convert::file_path(&uri).is_some_and(|path| path.is_dir()) {
        files::scan(shared, vec![uri]);
    } else {
        files::look(shared, [Arc::from(convert::name(&uri))]);
    }
}

fn disappeared(shared: &Arc<Shared>, uri: &str) {
    if let Ok(uri) = Url::parse(uri) {
        files::look_below(shared, &uri);
    }
}
