//! The command line: one file per subcommand.
//!
//! Exit codes: 0 nothing wrong, 1 findings, 2 wrong usage or a file that cannot be read or written.

mod baseline;
mod bases;
mod check;
mod chosen;
mod completions;
mod explain;
mod fix;
mod fmt;
mod input;
mod lsp;
mod man;
mod migrate;
mod migrate_config;
mod ogx_plan;
mod project;
mod reference;
mod render;
mod report;
mod schema;
mod to_ogx;
mod verdicts;

use clap::{Parser, Subcommand};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Exit code: nothing was found, or everything was done.
const CLEAN: u8 = 0;
/// Exit code: findings, or something that a fix or formatting would change.
const FINDINGS: u8 = 1;
/// Wrong usage, or a file that cannot be read or written.
const FAILURE: u8 = 2;

/// Checks LlamaStackDistribution and OGXServer resources, and shows the configs they stand for.
#[derive(Debug, Parser)]
#[command(name = "llsd", version, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Completions(completions::Arguments),
    Explain(explain::Arguments),
    Fix(fix::Arguments),
    Fmt(fmt::Arguments),
    Migrate(migrate::Arguments),
    Render(render::Arguments),
    Schema(schema::Arguments),
    Lsp(lsp::Arguments),
    #[command(hide = true)]
    Man(man::Arguments),
}

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not mistakes, and go to standard output.
            let code = if error.use_stderr() { FAILURE } else { CLEAN };
            let _ = error.print();
            return code.into();
        }
    };
    let result = match arguments.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Fix(arguments) => fix::run(&arguments),
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Migrate(arguments) => match arguments.to {
            Some(migrate::To::Config(version)) => migrate_config::run(&arguments, version),
            _ => migrate::run(&arguments),
        },
        Command::Render(arguments) => render::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Lsp(arguments) => return lsp::run(&arguments),
    };
    match result {
        Ok(code) => code.into(),
        // Whoever read the output has seen enough (`llsd … | head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => CLEAN.into(),
        Err(error) => {
            complain(&format!("cannot write the output: {error}"));
            FAILURE.into()
        }
    }
}

/// Says what went wrong, on standard error.
fn complain(message: &dyn Display) {
    let _ = writeln!(io::stderr(), "llsd: {message}");
}
