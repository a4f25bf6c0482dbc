//! What the page calls. A question and its answer pass through two buffers in the memory of the module: the page asks for
//! `question(length)` and writes there, calls `answer()`, and reads as many bytes as that says at `answered()`.
//!
//! By hand, and not by `wasm-bindgen`: its program has to be of the very version of the crate, and texts are all there
//! is to pass.

#![allow(unsafe_code, reason = "the names of exported functions have to be unique, which nobody checks")]

use crate::Engine;
use std::cell::RefCell;

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::default();
    static QUESTION: RefCell<Vec<u8>> = RefCell::default();
    static ANSWER: RefCell<String> = RefCell::default();
}

/// Room for a question of `length` bytes of UTF-8. It is valid up to the next call of any of these functions.
#[unsafe(no_mangle)]
extern "C" fn question(length: usize) -> *mut u8 {
    QUESTION.with_borrow_mut(|question| {
        question.clear();
        question.resize(length, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question that was written, and says how many bytes the answer has.
#[unsafe(no_mangle)]
extern "C" fn answer() -> usize {
    let question = QUESTION.take();
    let answer = ENGINE.with_borrow_mut(|engine| engine.answer(&String::from_utf8_lossy(&question)));
    ANSWER.with_borrow_mut(|kept| {
        *kept = answer;
        kept.len()
    })
}

/// Where the answer begins. It is valid up to the next call of `answer`.
#[unsafe(no_mangle)]
extern "C" fn answered() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}
