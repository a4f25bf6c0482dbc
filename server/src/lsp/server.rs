//! Starts the server on a transport and ends it as the protocol says.

use super::backend::Backend;
use super::codec::{self, Message};
use super::guard::{Exit, Guarded};
use super::handlers;
use super::outgoing::Outgoing;
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt, StreamExt};
use std::future::poll_fn;
use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, channel};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::{ClientSocket, LspService};
use tower_service::Service;

/// How many messages wait unread while the loop is busy.
pub(super) const BACKLOG: usize = 64;
/// Threads for analyses at most. One that waits for another's result holds one, too.
const THREADS: usize = 16;
/// Requests that are being answered at most; further ones are refused. They cannot wait in the stream: what those at
/// work wait for comes from there.
const MAX_ANSWERING: usize = 1024;
/// How often a client that does not read is looked at.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a server that was told to exit waits for answers in progress.
const GRACE: Duration = Duration::from_secs(2);

/// Where messages come from and go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output of this process.
    Stdio,
    /// A TCP port of this machine on which the client listens.
    Socket(u16),
}

/// Serves until the client says `exit` or goes away. The code is 0 after an orderly shutdown and 1 otherwise.
///
/// # Errors
/// If the runtime cannot be started or nobody listens on the port.
pub fn run(transport: Transport) -> io::Result<ExitCode> {
    match transport {
        Transport::Stdio => run_over(io::stdin(), io::stdout()),
        Transport::Socket(port) => {
            let stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_nodelay(true)?;
            run_over(stream.try_clone()?, stream)
        }
    }
}

/// The same over any pair of streams.
///
/// # Errors
/// If the runtime cannot be started.
pub fn run_over(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> io::Result<ExitCode> {
    let (incoming, outgoing, writer) = connect(input, output);
    // One thread runs the loop; analyses run on the blocking pool.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(THREADS).build()?;
    let exit = Arc::new(Exit::default());
    runtime.block_on(serve(incoming, outgoing, &exit));
    // An analysis that still runs must not hold the process.
    runtime.shutdown_background();
    if writer.join().is_err() {
        tracing::error!("the writing thread panicked");
    }
    Ok(if exit.was_orderly() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn too_many() -> Error {
    // ServerCancelled of the protocol: the client may ask again.
    let message = format!("more than {MAX_ANSWERING} requests are being answered");
    Error { code: ErrorCode::ServerError(-32802), message: message.into(), data: None }
}

/// Threads that read and write: blocking calls of the standard library are the fastest way in and out.
fn connect(
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> (Receiver<Message>, Outgoing, JoinHandle<()>) {
    let (send_in, incoming) = channel(BACKLOG);
    thread::spawn(move || {
        let mut input = BufReader::with_capacity(1 << 16, input);
        loop {
            match codec::read(&mut input) {
                Ok(Some(message)) => {
                    if send_in.blocking_send(message).is_err() {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "the connection ends");
                    break;
                }
            }
        }
    });
    let (outgoing, queue) = Outgoing::queue();
    let writer = thread::spawn(move || queue.write(&mut output));
    (incoming, outgoing, writer)
}

pub(super) async fn serve(mut incoming: Receiver<Message>, outgoing: Outgoing, exit: &Arc<Exit>) {
    let backend = |client| Backend::new(client, outgoing.clone(), Arc::clone(exit));
    let (service, socket) = handlers::own(LspService::build(backend)).finish();
    let mut service = Guarded::new(service, Arc::clone(exit));
    let (mut requests, mut responses) = ClientSocket::split(socket);
    let mut answering = FuturesUnordered::new();
    while !exit.is_requested() {
        let room = outgoing.has_room();
        tokio::select! {
            Some(request) = requests.next() => outgoing.request(request),
            Some(answer) = answering.next() => {
                if let Ok(Some(answer)) = answer {
                    outgoing.response(answer);
                }
            }
            () = exit.abandoned() => break,
            () = tokio::time::sleep(PAUSE), if !room => {}
            message = incoming.recv(), if room => match message {
                None => break,
                Some(Message::Malformed(error)) => outgoing.response(Response::from_error(Id::Null, error)),
                Some(Message::Response(response)) => {
                    let _ = responses.send(response).await;
                }
                Some(Message::Request(request)) => {
                    if let Some(id) = request.id().filter(|_| answering.len() >= MAX_ANSWERING) {
                        outgoing.response(Response::from_error(id.clone(), too_many()));
                        continue;
                    }
                    if let Some(trace) = exit.traced(&request).and_then(|trace| serde_json::to_value(trace).ok()) {
                        outgoing.request(Request::build("$/logTrace").params(trace).finish());
                    }
                    // Always ready while the session lasts.
                    if poll_fn(|cx| service.poll_ready(cx)).await.is_err() {
                        break;
                    }
                    // The first poll happens here, in the order of arrival: handlers change documents in it.
                    let mut answer = service.call(request);
                    match poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await {
                        Poll::Ready(Ok(Some(answer))) => outgoing.response(answer),
                        Poll::Ready(_) => {}
                        Poll::Pending => answering.push(answer),
                    }
                }
            }
        }
    }
    let rest = async {
        while let Some(answer) = answering.next().await {
            if let Ok(Some(answer)) = answer {
                outgoing.response(answer);
            }
        }
    };
    if tokio::time::timeout(GRACE, rest).await.is_err() {
        tracing::warn!("requests were still running at the end");
    }
    outgoing.end();
}
