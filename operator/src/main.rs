//! `llsd-operator`: reads the command line and runs the operator, or one of the steps that it has pods run.

use clap::Parser as _;
use llsd_operator::settings::{Command, CommandLine, Encoder, Settings};
use llsd_operator::{process, rbac};
use std::io::Write as _;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    match line.command {
        Some(Command::MergeConfig(arguments)) => merge(&arguments),
        Some(Command::Manifests) => manifests(),
        Some(Command::Run) | None => {
            log(&line.run);
            run(line.run)
        }
    }
}

fn run(settings: Settings) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(process::run(settings));
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn merge(arguments: &llsd_operator::external::merge::Arguments) -> ExitCode {
    let mut out = std::io::stderr();
    // The kubelet takes the end of the log as the message of the init container.
    match arguments.run() {
        Ok(report) => {
            for warning in &report.warnings {
                let _ = writeln!(out, "{warning}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(out, "{error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn manifests() -> ExitCode {
    let text: Vec<_> = rbac::manifests().into_iter().map(|(_, text)| text).collect();
    match std::io::stdout().write_all(text.join("---\n").as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// What is logged of the libraries. Below an error, `kube_client` logs bodies of answers that it cannot read, and those may
/// be Secrets.
const OTHERS: &str = "warn,kube_client=error";

fn log(settings: &Settings) {
    let level = if settings.zap_devel { "debug" } else { settings.zap_log_level.as_str() };
    // One word is about this program; everything else may be named too, as in `info,kube=debug`.
    let filter = if level.contains([',', '=']) { level.to_owned() } else { format!("{OTHERS},llsd_operator={level}") };
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(format!("{OTHERS},llsd_operator=info")));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if settings.zap_devel || settings.zap_encoder == Encoder::Console {
        logs.init();
    } else {
        logs.json().flatten_event(true).init();
    }
}
