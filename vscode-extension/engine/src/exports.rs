//! What the worker calls.

#![allow(unsafe_code, reason = "the names of exported functions have to be unique, which nobody checks")]

use llsd::lsp::Embedded;
use std::cell::RefCell;

thread_local! {
    static SERVER: RefCell<Option<Embedded>> = const { RefCell::new(None) };
    static MESSAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" {
    /// Made by the linker: sets up the C library.
    safe fn __wasm_call_ctors();
}

/// Has to be called once, before any other function. Without it the linker would have each of them set up the C library.
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    __wasm_call_ctors();
}

/// Room for a message of `length` bytes of UTF-8. It is valid up to the next call of any of these functions.
#[unsafe(no_mangle)]
extern "C" fn message(length: usize) -> *mut u8 {
    MESSAGE.with_borrow_mut(|message| {
        message.clear();
        message.resize(length, 0);
        message.as_mut_ptr()
    })
}

/// Takes in the message that was written, and does all that follows from it.
#[unsafe(no_mangle)]
extern "C" fn receive() {
    let message = MESSAGE.take();
    SERVER.with_borrow_mut(|server| {
        if server.is_none() {
            *server = Embedded::start().ok();
        }
        if let Some(server) = server {
            server.receive(&message);
        }
    });
}

/// Has the next message for the client ready, and says how many bytes it has; 0: there is none.
#[unsafe(no_mangle)]
extern "C" fn next() -> usize {
    let text = SERVER.with_borrow_mut(|server| server.as_mut().and_then(Embedded::take)).unwrap_or_default();
    TEXT.replace(text);
    TEXT.with_borrow(Vec::len)
}

/// Where that message begins. It is valid up to the next call of `next`.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}
