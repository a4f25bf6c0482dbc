//! What the cursor is about to complete.
