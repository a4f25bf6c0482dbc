//! `llsd lsp`: runs the language server.

use super::{FAILURE, complain};
use crate::lsp::{Transport, run as serve};
use clap::Args;
use std::io;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Serve an editor, on standard input and output
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Standard input and output: the default; some clients pass it anyway
    #[arg(long, conflicts_with = "socket")]
    stdio: bool,
    /// Connect to this port of this machine, where the editor listens
    #[arg(long, value_name = "PORT")]
    socket: Option<u16>,
    /// Process of the editor, which some clients pass; its end is seen by the closed connection
    #[arg(long = "clientProcessId", value_name = "ID", hide = true)]
    client_process: Option<u64>,
}

/// Serves until the editor ends the session. What is worth knowing goes to standard error; `LLSD_LOG=debug` says more.
pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let filter = EnvFilter::try_from_env("LLSD_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false).init();
    tracing::debug!(?arguments, "started");
    match serve(arguments.socket.map_or(Transport::Stdio, Transport::Socket)) {
        Ok(code) => code,
        Err(error) => {
            let place = arguments.socket.map_or_else(String::new, |port| format!(" on port {port}"));
            complain(&format!("cannot serve{place}: {error}"));
            FAILURE.into()
        }
    }
}
