//! What the editor's questions answer, on small texts with a cursor written `$0`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod across;
mod actions;
mod completion;
mod completion_laws;
mod diagnostics;
mod disguise;
mod files;
mod fixes;
mod folding;
mod format;
mod format_laws;
mod hover;
mod inlay;
mod lens;
mod linked;
mod namesakes;
mod navigation;
mod on_type;
mod preview;
mod rename;
mod replay;
mod selection;
mod share;
mod support;
mod symbols;
mod symbols_of_workspace;
mod tokens;
mod typing;
