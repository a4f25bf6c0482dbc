//! The server inside of a host that has neither threads nor streams, such as the worker of a browser: the host hands a
//! message in, all that follows from it is done, and the messages for the client are taken out.

use super::codec;
use super::guard::Exit;
use super::outgoing::{Outgoing, Queue};
use super::server::{BACKLOG, serve};
use std::io;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::sync::mpsc::{Sender, channel};

/// A server for one client.
#[derive(Debug)]
pub struct Embedded {
    runtime: Runtime,
    incoming: Sender<codec::Message>,
    queue: Queue,
    /// Told whenever nothing is left to be done.
    idle: Arc<Notify>,
}

impl Embedded {
    /// Starts it. It waits for `initialize`.
    ///
    /// # Errors
    /// If the runtime cannot be started.
    pub fn start() -> io::Result<Self> {
        let idle = Arc::new(Notify::new());
        let tell = Arc::clone(&idle);
        let runtime = Builder::new_current_thread().enable_time().on_thread_park(move || tell.notify_one()).build()?;
        let (send, incoming) = channel(BACKLOG);
        let (outgoing, queue) = Outgoing::queue();
        runtime.spawn(async move { serve(incoming, outgoing, &Arc::new(Exit::default())).await });
        Ok(Self { runtime, incoming: send, queue, idle })
    }

    /// Takes in a message of the client, JSON without a header, and does all that follows from it. After `exit` nothing does.
    pub fn receive(&mut self, message: &[u8]) {
        // There is always room: each message is taken out before this returns. It fails where the session is over.
        let _ = self.incoming.try_send(codec::parse(message));
        self.runtime.block_on(self.idle.notified());
    }

    /// The next message for the client, JSON without a header; `None`: there is none now.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.queue.next()
    }
}
