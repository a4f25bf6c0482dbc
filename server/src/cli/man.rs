//! `llsd man`: for those who package the program.

use super::{Arguments as Program, CLEAN, FAILURE, complain};
use clap::{Args, CommandFactory};
use std::io;
use std::path::PathBuf;

/// Write the manual pages, one for each subcommand
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder to write to; it has to exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes `llsd.1`, `llsd-check.1` and so on.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    match clap_mangen::generate_to(Program::command(), &arguments.folder) {
        Ok(()) => Ok(CLEAN),
        Err(error) => {
            complain(&format!("cannot write the manual pages to {}: {error}", arguments.folder.display()));
            Ok(FAILURE)
        }
    }
}
