//! What surrounds every request: a panic fails that request and nothing else, and `exit` ends the input.

use std::any::Any;
use std::future::{self, Future};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_service::Service;

/// How the end of the session came about.
#[derive(Debug, Default)]
pub(super) struct Exit {
    shut_down: AtomicBool,
    exited: AtomicBool,
    notify: Notify,
}

impl Exit {
    /// Whether `exit` came after `shutdown`.
    pub(super) fn was_orderly(&self) -> bool {
        self.shut_down.load(Ordering::Acquire) && self.exited.load(Ordering::Acquire)
    }

    /// Waits for `exit`.
    pub(super) async fn requested(&self) {
        let notified = self.notify.notified();
        if !self.exited.load(Ordering::Acquire) {
            notified.await;
        }
    }

    fn see(&self, method: &str) {
        match method {
            "shutdown" => self.shut_down.store(true, Ordering::Release),
            "exit" => {
                self.exited.store(true, Ordering::Release);
                self.notify.notify_waiters();
            }
            _ => {}
        }
    }
}

/// Input that ends when the client said `exit`, so that everything behind it drains and ends too.
#[derive(Debug)]
pub(super) struct UntilExit<R> {
    inner: R,
    exit: Arc<Exit>,
}

impl<R> UntilExit<R> {
    pub(super) fn new(inner: R, exit: Arc<Exit>) -> Self {
        Self { inner, exit }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilExit<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // The service sees `exit` on the task that reads, before the next read.
        if self.exit.exited.load(Ordering::Acquire) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

/// The service with its panics caught.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    inner: S,
    exit: Arc<Exit>,
}

impl<S> Guarded<S> {
    pub(super) fn new(inner: S, exit: Arc<Exit>) -> Self {
        Self { inner, exit }
    }
}

type Answer<E> = Result<Option<Response>, E>;
type Answering<E> = Pin<Box<dyn Future<Output = Answer<E>> + Send>>;

impl<S> Service<Request> for Guarded<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Answering<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        self.exit.see(request.method());
        let (method, id) = (request.method().to_owned(), request.id().cloned());
        let mut answering = Box::pin(self.inner.call(request));
        Box::pin(future::poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(cx))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Ok(failed(&method, id.clone(), panic.as_ref()))),
        }))
    }
}

/// The answer to a request that panicked; notifications have none.
fn failed(method: &str, id: Option<Id>, panic: &(dyn Any + Send)) -> Option<Response> {
    tracing::error!(method, panic = message(panic), "a handler panicked");
    id.map(|id| Response::from_error(id, internal(method)))
}

/// The error that a client sees when the server itself is at fault.
pub(super) fn internal(what: &str) -> Error {
    let mut error = Error::internal_error();
    error.message = format!("llsd failed on {what}; its log says more").into();
    error
}

/// The words of a panic.
pub(super) fn message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
