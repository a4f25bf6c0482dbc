//! `llsd`: the language server and the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    llsd::cli::run()
}
