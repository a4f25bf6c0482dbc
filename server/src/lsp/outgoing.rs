//! What is sent to the client: one queue, so that messages leave in the order in which they were put in.

use super::codec::{self, Framed};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::jsonrpc::{Request, Response};

/// Unwritten messages up to which new requests are taken in. A client that asks and never reads gets no further.
const MAX_WAITING: usize = 1 << 14;

#[derive(Debug)]
enum Message {
    Request(Request),
    Response(Response),
    Text(Framed),
    /// Nothing is written after this.
    End,
}

/// The way into the queue. Sending never waits: who takes in new work asks first whether there is [room](Self::has_room).
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    send: UnboundedSender<Message>,
    /// Messages that are not written yet.
    waiting: Arc<AtomicUsize>,
}

impl Outgoing {
    /// A queue: where messages go in, and where they come out.
    pub(super) fn queue() -> (Self, Queue) {
        let (send, receive) = unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        (Self { send, waiting: Arc::clone(&waiting) }, Queue { receive, waiting })
    }

    /// Whether the client keeps up with reading.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < MAX_WAITING
    }

    /// Sends a request or notification.
    pub(super) fn request(&self, request: Request) {
        self.send(Message::Request(request));
    }

    /// Queues the response to a request of the client.
    pub(super) fn response(&self, response: Response) {
        self.send(Message::Response(response));
    }

    /// Sends what is a message already.
    pub(super) fn text(&self, text: Framed) {
        self.send(Message::Text(text));
    }

    /// Has the writer end when everything before this is written, whoever may still want to send something.
    pub(super) fn end(&self) {
        self.send(Message::End);
    }

    /// Tells the diagnostics of a file. `list` writes them as a JSON list, or says that they are outdated; then nothing
    /// is sent.
    pub(super) fn diagnostics(
        uri: &str,
        version: Option<i32>,
        list: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Option<Framed> {
        let mut text = codec::Text::new();
        let body = text.body();
        body.extend_from_slice(
            b"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":",
        );
        json(body, &uri);
        if let Some(version) = version {
            body.extend_from_slice(b",\"version\":");
            json(body, &version);
        }
        body.extend_from_slice(b",\"diagnostics\":");
        list(body)?;
        body.extend_from_slice(b"}}");
        Some(text.framed())
    }

    fn send(&self, message: Message) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // Nobody writes any more: the session is over.
        let _ = self.send.send(message);
    }
}

/// Writes a text or a number: to memory, where that cannot fail.
pub(super) fn json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let _ = serde_json::to_writer(out, value);
}

/// The messages that wait to be written.
#[derive(Debug)]
pub(super) struct Queue {
    receive: UnboundedReceiver<Message>,
    waiting: Arc<AtomicUsize>,
}

impl Queue {
    /// The next message as JSON; `None` if there is none now.
    #[cfg(target_family = "wasm")]
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        let message = self.receive.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        match message {
            Message::Request(request) => serde_json::to_vec(&request).ok(),
            Message::Response(response) => serde_json::to_vec(&response).ok(),
            Message::Text(text) => Some(text.into_body()),
            Message::End => None,
        }
    }

    /// Writes what is sent until the end is, or nobody reads. Blocks.
    pub(super) fn write(mut self, output: &mut impl Write) {
        while let Some(message) = self.receive.blocking_recv() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            let written = match &message {
                Message::Request(request) => codec::write(output, request),
                Message::Response(response) => codec::write(output, response),
                Message::Text(text) => text.write(output),
                Message::End => break,
            };
            if let Err(error) = written {
                tracing::warn!(%error, "nobody reads");
                break;
            }
        }
    }
}
