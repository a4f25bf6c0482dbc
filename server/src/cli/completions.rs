//! `llsd completions`.

use super::{Arguments as Program, CLEAN};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::{self, Write};

/// Print the script that completes `llsd` in a shell
///
/// bash: llsd completions bash > ~/.local/share/bash-completion/completions/llsd.
/// zsh: llsd completions zsh > DIR/_llsd, where DIR is in $fpath.
/// fish: llsd completions fish > ~/.config/fish/completions/llsd.fish.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

/// Writes the script to standard output.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    // In memory first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Program::command(), "llsd", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(CLEAN)
}
