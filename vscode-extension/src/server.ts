// Finds, starts and restarts llsd.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, State } from 'vscode-languageclient/node';
import type { CloseHandlerResult, ErrorHandler, ErrorHandlerResult } from 'vscode-languageclient/node';
import { BASE_SCHEME, languages, PREVIEW_SCHEME } from './recognise';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A server that ran this long was healthy: the next crash starts from the first wait again. */
const HEALTHY_AFTER_MS = 60_000;

/** The commands that code lenses of the server may carry. */
const LENS_COMMANDS = ['llsd.preview', 'llsd.previewDiff', 'llsd.migrate', 'llsd.showReferences'];

export type Health = 'stopped' | 'starting' | 'running' | 'restarting';

/** The binary to start: the setting, else the bundled one, else whatever the PATH has. */
export function binaryPath(context: vscode.ExtensionContext): string {
  const name = process.platform === 'win32' ? 'llsd.exe' : 'llsd';
  const configured = vscode.workspace.getConfiguration('llsd').get<string>('server.path', '').trim();
  if (configured !== '') {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    return path.isAbsolute(configured) || folder === undefined ? configured : path.join(folder, configured);
  }
  const bundled = path.join(context.extensionPath, 'server', name);
  return fs.existsSync(bundled) ? bundled : onPath(name) ?? name;
}

/** The program in a folder of the PATH. Windows would look in the folder of the workspace first. */
function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

/** One server for all folders of the window. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private wait = FIRST_WAIT_MS;
  private startedAt = 0;
  private restartTimer: NodeJS.Timeout | undefined;
  private readonly changed = new vscode.EventEmitter<Health>();
  readonly onDidChangeHealth = this.changed.event;
  health: Health = 'stopped';
  /** The last start failed: only a new setting or a command tries again. */
  failed = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** The running client; undefined while there is none. */
  get running(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  async start(): Promise<void> {
    if (this.client !== undefined) {
      return;
    }
    clearTimeout(this.restartTimer);
    const command = binaryPath(this.context);
    this.failed = false;
    this.setHealth('starting');
    const client = new LanguageClient(
      'llsd',
      'llsd',
      // not in the folder of the workspace, where Windows would find programs before those of the PATH
      { command, args: ['lsp'], options: { cwd: this.context.extensionPath } },
      {
        documentSelector: [
          ...languages().flatMap((language) => [{ scheme: 'file', language }, { scheme: 'untitled', language }]),
          { scheme: PREVIEW_SCHEME },
          { scheme: BASE_SCHEME },
        ],
        // trust that is granted later starts the server anew
        initializationOptions: { commands: LENS_COMMANDS, virtualDocuments: true, untrusted: !vscode.workspace.isTrusted },
        outputChannel: this.output,
        errorHandler: this.errorHandler(),
        initializationFailedHandler: () => false,
      },
    );
    this.client = client;
    try {
      await client.start();
      this.startedAt = Date.now();
      this.setHealth('running');
    } catch (error) {
      this.client = undefined;
      this.failed = true;
      this.setHealth('stopped');
      this.output.error(String(error));
      const choice = await vscode.window.showErrorMessage(
        `llsd did not start: "${command}". Set "llsd.server.path" to a working binary, or reinstall the extension.`,
        'Open Settings',
        'Show Output',
      );
      if (choice === 'Open Settings') {
        await vscode.commands.executeCommand('workbench.action.openSettings', 'llsd.server.path');
      } else if (choice === 'Show Output') {
        this.output.show();
      }
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    this.wait = FIRST_WAIT_MS;
    await this.start();
  }

  async stop(): Promise<void> {
    clearTimeout(this.restartTimer);
    const client = this.client;
    this.client = undefined;
    if (client !== undefined) {
      await client.dispose().catch((error: unknown) => { this.output.warn(String(error)); });
    }
    this.setHealth('stopped');
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
  }

  private errorHandler(): ErrorHandler {
    return {
      error: (): ErrorHandlerResult => ({ action: ErrorAction.Continue, handled: true }),
      closed: (): CloseHandlerResult => {
        this.scheduleRestart();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    };
  }

  /** After a crash: again, each time after twice the wait. */
  private scheduleRestart(): void {
    const crashed = this.client;
    if (crashed === undefined) {
      return; // stopped on purpose
    }
    this.client = undefined;
    if (Date.now() - this.startedAt > HEALTHY_AFTER_MS) {
      this.wait = FIRST_WAIT_MS;
    }
    this.output.warn(`llsd ended unexpectedly; starting it again in ${this.wait} ms`);
    this.setHealth('restarting');
    this.restartTimer = setTimeout(() => {
      void crashed.dispose().catch(() => undefined).finally(() => this.start());
    }, this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
  }

  private setHealth(health: Health): void {
    this.health = health;
    this.changed.fire(health);
  }
}
