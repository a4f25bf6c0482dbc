//! What the editor's questions answer, on small texts with a cursor written `$0`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod actions;
mod completion;
mod diagnostics;
mod folding;
mod format;
mod hover;
mod inlay;
mod lens;
mod linked;
mod on_type;
mod preview;
mod replay;
mod selection;
mod support;
mod symbols;
mod tokens;
mod typing;
