//! `workspace/willRenameFiles`, `didRenameFiles`, `didCreateFiles` and `didDeleteFiles`: what the user does in the editor
//! itself. Clients that watch files say so once more; looking twice does no harm.

use super::edits;
use crate::ide::{self, FileEdits, Stop};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::workspace_files::QueryFiles;
use crate::lsp::{convert, files};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{CreateFilesParams, DeleteFilesParams, RenameFilesParams, Url, WorkspaceEdit};

/// `workspace/didCreateFiles`: looks at new files and folders.
pub(in crate::lsp) fn created(backend: &Backend, params: CreateFilesParams) {
    params.files.iter().for_each(|file| appeared(&backend.shared, &file.uri));
}

/// The changes of kustomizations that name a file or folder which is to have another name.
pub(in crate::lsp) async fn renaming(backend: &Backend, params: RenameFilesParams) -> Result<Option<WorkspaceEdit>> {
    let job = move |shared: &Shared, _: Stop<'_>| {
        let (library, workspace) = (QueryFiles::new(shared), shared.session.workspace());
        let mut all: Vec<FileEdits> = Vec::new();
        for file in &params.files {
            let (Ok(old), Ok(new)) = (Url::parse(&file.old_uri), Url::parse(&file.new_uri)) else { continue };
            for one in ide::moved(&workspace, &library, &convert::name(&old), &convert::name(&new)) {
                match all.iter_mut().find(|known| known.file == one.file) {
                    Some(known) => known.edits.extend(one.edits),
                    None => all.push(one),
                }
            }
        }
        (!all.is_empty()).then(|| edits::of_others(shared, &all))
    };
    Ok(backend.run("workspace/willRenameFiles", job).await?.flatten())
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
        files::rescan(shared, [Arc::from(convert::name(&uri))]);
    }
}

fn disappeared(shared: &Arc<Shared>, uri: &str) {
    if let Ok(uri) = Url::parse(uri) {
        files::rescan_below(shared, [&uri]);
    }
}
