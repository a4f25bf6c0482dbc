// The server's module: messages in, messages out, and the files in memory that it reads. It has no other access to the
// world.
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import type { Inode } from '@bjorn3/browser_wasi_shim';

/** What `engine/src/exports.rs` exports. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  message(length: number): number;
  receive(): void;
  next(): number;
  text(): number;
}

/** `EINVAL` of the interface between the module and its files. */
const NO_LINK = 28;

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

export class ServerModule {
  private constructor(private readonly exports: Exports, private readonly root: Directory) {}

  static async load(bytes: BufferSource): Promise<ServerModule> {
    const root = new PreopenDirectory('/', new Map<string, Inode>());
    const said = ConsoleStdout.lineBuffered((line) => { console.error(`llsd: ${line}`); });
    const wasi = new WASI([], [], [new OpenFile(new File([])), said, said, root], { debug: false });
    // There are no links in memory. The answer that says so is "invalid", where the library has "not supported".
    wasi.wasiImport['path_readlink'] = () => NO_LINK;
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: wasi.wasiImport });
    const exports = instance.exports as unknown as Exports;
    wasi.initialize({ exports });
    return new ServerModule(exports, root.dir);
  }

  /** Hands in a message of the client, and gives back what the server sends. After an error the module is of no use. */
  receive(message: unknown): unknown[] {
    const bytes = encoder.encode(JSON.stringify(message));
    const { exports } = this;
    // The memory may grow with each call, and then its old buffer is empty: it is asked for each time.
    const place = exports.message(bytes.length);
    new Uint8Array(exports.memory.buffer, place, bytes.length).set(bytes);
    exports.receive();
    const sent: unknown[] = [];
    for (let length = exports.next(); length > 0; length = exports.next()) {
      sent.push(JSON.parse(decoder.decode(new Uint8Array(exports.memory.buffer, exports.text(), length))));
    }
    return sent;
  }

  /** Puts a file where the server finds it; without content it, or a folder, is taken away. */
  put(path: string, content: Uint8Array | undefined): void {
    const names = path.split('/').filter((name) => name !== '');
    const last = names.pop();
    if (last === undefined) {
      return;
    }
    let folder = this.root;
    for (const name of names) {
      const found = folder.contents.get(name);
      if (found === undefined && content === undefined) {
        return;
      }
      const next = found instanceof Directory ? found : new Directory(new Map<string, Inode>());
      folder.contents.set(name, next);
      folder = next;
    }
    if (content === undefined) {
      folder.contents.delete(last);
    } else {
      folder.contents.set(last, new File(content));
    }
  }
}
