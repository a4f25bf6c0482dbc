//! Text edits by span.
