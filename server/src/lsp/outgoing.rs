//! What is sent to the client: one queue, so that messages leave in the order in which they were put in.

use super::wire::{self, Framed};
use serde::Serialize;
use std::io::Write;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::jsonrpc::{Request, Response};

#[derive(Debug)]
enum Message {
    Request(Request),
    Response(Response),
    Text(Framed),
    /// Nothing is written after this.
    End,
}

/// The way into the queue. Sending never waits; a client that no longer reads is noticed where it is read from.
#[derive(Clone, Debug)]
pub(super) struct Outgoing(UnboundedSender<Message>);

impl Outgoing {
    /// A queue: where messages go in, and where they come out.
    pub(super) fn queue() -> (Self, Queue) {
        let (send, receive) = unbounded_channel();
        (Self(send), Queue(receive))
    }

    /// Sends a request or notification.
    pub(super) fn request(&self, request: Request) {
        self.send(Message::Request(request));
    }

    /// Sends an answer.
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
        let mut text = wire::Text::new();
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
        let _ = self.0.send(message);
    }
}

/// Writes a text or a number: to memory, where that cannot fail.
pub(super) fn json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let _ = serde_json::to_writer(out, value);
}

/// The messages that wait to be written.
#[derive(Debug)]
pub(super) struct Queue(UnboundedReceiver<Message>);

impl Queue {
    /// Writes what is sent until the end is, or nobody reads. Blocks.
    pub(super) fn write(mut self, output: &mut impl Write) {
        while let Some(message) = self.0.blocking_recv() {
            let written = match &message {
                Message::Request(request) => wire::write(output, request),
                Message::Response(response) => wire::write(output, response),
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
