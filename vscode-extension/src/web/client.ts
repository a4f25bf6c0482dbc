// Starts the server as a module in a worker, and keeps the files that it reads in step with the workspace.
import * as vscode from 'vscode';
import { BrowserMessageReader, BrowserMessageWriter, DidChangeWatchedFilesNotification, FileChangeType, LanguageClient, State } from 'vscode-languageclient/browser';
import type { FileEvent, LanguageClientOptions, MessageTransports } from 'vscode-languageclient/browser';
import { gather, isOfInterest, read } from './files';
import type { Ended, Files, Start } from './messages';
import { fromServer, pathOf, toServer } from './uris';

/** Ends when the worker does, however that comes about. */
class Reader extends BrowserMessageReader {
  ended(): void {
    this.fireClose();
  }
}

export class WebClient extends LanguageClient {
  private worker: Worker | undefined;
  private port: MessagePort | undefined;
  private readonly subscriptions: { dispose(): unknown }[];

  constructor(context: vscode.ExtensionContext, private readonly output: vscode.LogOutputChannel, options: LanguageClientOptions) {
    super('llsd', 'llsd', () => this.connect(context), {
      ...options,
      uriConverters: { code2Protocol: toServer, protocol2Code: fromServer },
      middleware: {
        workspace: {
          // The file goes first, on the same way.
          didChangeWatchedFile: async (event, next) => {
            const uri = fromServer(event.uri);
            this.give([[uri, event.type === FileChangeType.Deleted ? undefined : await read(uri)]]);
            await next(event);
          },
        },
      },
    });
    this.subscriptions = [
      this.onDidChangeState(({ newState }) => {
        if (newState === State.Running) {
          void this.giveAll(vscode.workspace.workspaceFolders ?? []);
        }
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(({ added }) => { void this.giveAll(added); }),
      // What a config is compared with is the file as it was saved, also one in no folder of the workspace.
      vscode.workspace.onDidSaveTextDocument((document) => { this.giveSaved(document); }),
      vscode.workspace.onDidOpenTextDocument((document) => { this.giveSaved(document); }),
    ];
  }

  override async dispose(timeout?: number): Promise<void> {
    vscode.Disposable.from(...this.subscriptions).dispose();
    try {
      await super.dispose(timeout);
    } finally {
      // One that does not answer would go on for ever.
      this.worker?.terminate();
      this.port?.close();
    }
  }

  private async connect(context: vscode.ExtensionContext): Promise<MessageTransports> {
    const inside = async (name: string): Promise<Uint8Array<ArrayBuffer>> =>
      new Uint8Array(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, 'out', 'web', name)));
    const [module, script] = await Promise.all([inside('llsd.wasm'), inside('worker.js')]);
    // Not by its address: VS Code starts no worker from that of an extension which a remote machine has.
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const worker = new Worker(address, { name: 'llsd' });
    const { port1, port2 } = new MessageChannel();
    const reader = new Reader(port1);
    const end = (reason: string | undefined): void => {
      if (reason !== undefined) {
        this.output.error(`the server has stopped: ${reason}`);
      }
      worker.terminate();
      reader.ended();
    };
    worker.onmessage = ({ data }: MessageEvent<Ended>): void => { end(data.reason); };
    worker.onerror = (event): void => { end(event.message); };
    worker.postMessage({ module, port: port2 } satisfies Start, [port2]);
    this.worker = worker;
    this.port = port1;
    return { reader, writer: new BrowserMessageWriter(port1) };
  }

  /** Gives the server the files of folders. It has looked before, and found nothing. */
  private async giveAll(folders: readonly vscode.WorkspaceFolder[]): Promise<void> {
    const found = await gather(folders.map(({ uri }) => uri), (reason) => { this.output.warn(reason); });
    this.give(found);
    const changes = found.map(([uri]): FileEvent => ({ uri: toServer(uri), type: FileChangeType.Created }));
    if (changes.length > 0 && this.isRunning()) {
      await this.sendNotification(DidChangeWatchedFilesNotification.type, { changes });
    }
  }

  private giveSaved(document: vscode.TextDocument): void {
    if (!document.isDirty && isOfInterest(document.uri)) {
      this.give([[document.uri, new TextEncoder().encode(document.getText())]]);
    }
  }

  private give(files: [vscode.Uri, Uint8Array | undefined][]): void {
    const named = files.flatMap(([uri, content]): Files['files'] => {
      const path = pathOf(uri);
      return path === undefined ? [] : [[path, content]];
    });
    this.port?.postMessage({ files: named } satisfies Files);
  }
}
