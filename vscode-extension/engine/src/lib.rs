//! The language server as a WebAssembly module, `wasm32-wasip1`, for the extension in a browser. Messages pass through two
//! buffers in the memory of the module: the worker around it asks for `message(length)` and writes there, calls `receive()`,
//! and then `next()` until that says 0; after each other number, so many bytes are at `text()`.
//!
//! The files that the server reads are those that the worker gives it; it can do nothing else to the world outside.

#[cfg(target_family = "wasm")]
mod exports;
