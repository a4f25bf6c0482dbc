//! What surrounds every request: a panic fails that request and nothing else, and the end is noticed.

use std::any::Any;
use std::future::{self, Future};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_lsp::lsp_types::{LogTraceParams, TraceValue};
use tower_service::Service;

/// How the end of the session came about, and how much the client wants to hear until then.
#[derive(Debug, Default)]
pub(super) struct Exit {
    shut_down: AtomicBool,
    exited: AtomicBool,
    abandoned: Notify,
    traced: AtomicU8,
}

impl Exit {
    /// Whether `exit` came after `shutdown`.
    pub(super) fn was_orderly(&self) -> bool {
        self.shut_down.load(Ordering::Acquire) && self.exited.load(Ordering::Acquire)
    }

    /// Whether the client said `exit`.
    pub(super) fn is_requested(&self) -> bool {
        self.exited.load(Ordering::Acquire)
    }

    /// There is no client any more.
    pub(super) fn abandon(&self) {
        self.abandoned.notify_one();
    }

    /// Waits until there is no client any more.
    pub(super) async fn abandoned(&self) {
        self.abandoned.notified().await;
    }

    /// How much of what arrives is told to the client.
    pub(super) fn trace(&self, value: TraceValue) {
        let level = match value {
            TraceValue::Off => 0,
            TraceValue::Messages => 1,
            TraceValue::Verbose => 2,
        };
        self.traced.store(level, Ordering::Release);
    }

    /// What to tell the client about a message of its own; `None` if it does not want to know.
    pub(super) fn traced(&self, request: &Request) -> Option<LogTraceParams> {
        let level = self.traced.load(Ordering::Acquire);
        let kind = if request.id().is_some() { "request" } else { "notification" };
        (level > 0).then(|| LogTraceParams {
            message: format!("llsd got the {kind} {}", request.method()),
            verbose: (level > 1).then(|| request.params().map(ToString::to_string)).flatten(),
        })
    }

    fn see(&self, method: &str) {
        match method {
            "shutdown" => self.shut_down.store(true, Ordering::Release),
            "exit" => self.exited.store(true, Ordering::Release),
            _ => {}
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use tower_lsp::jsonrpc::Result as Answered;

    /// Panics on `now` at once and on `later` at the second poll; answers everything else.
    #[derive(Debug)]
    struct Faulty;

    impl Service<Request> for Faulty {
        type Response = Option<Response>;
        type Error = std::convert::Infallible;
        type Future = Answering<Self::Error>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Self::Future {
            Box::pin(async move {
                match request.method() {
                    "now" => panic!("at once"),
                    "later" => {
                        tokio::task::yield_now().await;
                        panic!("later")
                    }
                    _ => {}
                }
                Ok(request.id().map(|id| Response::from_ok(id.clone(), true.into())))
            })
        }
    }

    async fn ask(service: &mut Guarded<Faulty>, method: &'static str) -> Option<Answered<serde_json::Value>> {
        let request = Request::build(method).id(1).finish();
        service.call(request).await.unwrap().map(|response| response.into_parts().1)
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_panic_fails_one_request() {
        let mut service = Guarded::new(Faulty, Arc::default());
        for method in ["now", "later"] {
            let error = ask(&mut service, method).await.unwrap().unwrap_err();
            assert_eq!(error.message, format!("llsd failed on {method}; its log says more"));
        }
        assert_eq!(ask(&mut service, "fine").await, Some(Ok(true.into())));
        let notification = Request::build("now").finish();
        assert_eq!(service.call(notification).await, Ok(None));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn the_end_is_orderly_after_shutdown() {
        let exit = Arc::new(Exit::default());
        let mut service = Guarded::new(Faulty, Arc::clone(&exit));
        ask(&mut service, "shutdown").await;
        assert!(!exit.is_requested());
        ask(&mut service, "exit").await;
        assert!(exit.is_requested() && exit.was_orderly());
    }
}
