//! YAML text as a tree with byte spans, and edits of that text by span.
//!
//! The tree is built by a line-oriented parser that accepts every text: what is broken becomes an entry of
//! [`Document::errors`], and what stands around it stays readable. Documents of a file are independent, see
//! [`Stream`]. Where yaml-rust2 accepts a text, this tree has the same structure and values; where it does not,
//! [`Document::strict_error`] says so.
//!
//! This crate knows YAML only: it does not know Kubernetes, files or editors.

mod block_scalar;
pub mod cursor;
mod decode;
mod document;
pub mod edit;
mod node;
mod parse;
mod resolve;
mod span;
mod split;
mod stream;
mod strict;
mod tree;
mod wide;
mod work;

pub use block_scalar::BlockScalar;
pub use document::{Comment, Document, Skipped, SkippedKind, SyntaxError};
pub use node::{Entries, Entry, Items, Node, Step};
pub use parse::parse_document;
pub use resolve::{Resolved, Rules, resolve_plain};
pub use span::Span;
pub use split::split_documents;
pub use stream::{Located, Stream};
pub use tree::{Kind, Style};
