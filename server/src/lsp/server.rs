//! Starts the server on a transport and ends it as the protocol says.

use super::backend::Backend;
use super::guard::{Exit, Guarded, UntilExit};
use super::handlers::preview;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tower_lsp::{LspService, Server};

/// How many requests may be unanswered at once. Above it, later messages, document changes included, would wait for
/// earlier answers.
const CONCURRENCY: usize = 256;
/// How long a server that was told to exit waits for answers in progress.
const GRACE: Duration = Duration::from_secs(2);

/// Where messages come from and go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// A TCP port of this machine on which the client listens.
    Socket(u16),
}

/// Serves until the client says `exit` or goes away. The code is 0 after an orderly shutdown and 1 otherwise.
///
/// # Errors
/// If the runtime cannot be started or nobody listens on the port.
pub fn run(transport: Transport) -> io::Result<ExitCode> {
    // One thread runs the request loop; analyses run on the blocking pool.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = Arc::new(Exit::default());
    runtime.block_on(async {
        match transport {
            Transport::Stdio => serve(tokio::io::stdin(), tokio::io::stdout(), &exit).await,
            Transport::Socket(port) => {
                let stream = TcpStream::connect(("127.0.0.1", port)).await?;
                stream.set_nodelay(true)?;
                let (input, output) = stream.into_split();
                serve(input, output, &exit).await;
            }
        }
        io::Result::Ok(())
    })?;
    // A thread that still reads standard input must not hold the process.
    runtime.shutdown_background();
    Ok(if exit.was_orderly() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn serve(input: impl AsyncRead + Unpin, output: impl AsyncWrite, exit: &Arc<Exit>) {
    let (service, socket) = LspService::build(Backend::new).custom_method("llsd/preview", preview::handle).finish();
    let service = Guarded::new(service, Arc::clone(exit));
    let input = UntilExit::new(input, Arc::clone(exit));
    let serving = Server::new(input, output, socket).concurrency_level(CONCURRENCY).serve(service);
    let overdue = async {
        exit.requested().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = serving => {}
        () = overdue => {}
    }
}
