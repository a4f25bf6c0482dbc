// What passes between the extension and the worker beside the messages of the protocol.

/** The first message to the worker: the server's module, and where everything else goes. */
export interface Start {
  module: BufferSource;
  port: MessagePort;
}

/** Files for the server to read, by path; undefined: gone. They come on the way of the messages, and in their order. */
export interface Files {
  files: [path: string, content: Uint8Array | undefined][];
}

/** The last message of the worker: it has ended, and why if that was not wanted. */
export interface Ended {
  reason?: string;
}
