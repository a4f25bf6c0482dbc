// Starts and restarts llsd.
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, State } from 'vscode-languageclient';
import type { BaseLanguageClient, CloseHandlerResult, ErrorHandler, ErrorHandlerResult } from 'vscode-languageclient';
import type { Platform } from './platform';
import { BASE_SCHEME, languages, PREVIEW_SCHEME } from './recognise';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A server that ran this long was healthy: the next crash starts from the first wait again. */
const HEALTHY_AFTER_MS = 60_000;

/** The commands that code lenses of the server may carry. */
const LENS_COMMANDS = ['llsd.preview', 'llsd.previewDiff', 'llsd.migrate', 'llsd.showReferences'];

export type Health = 'stopped' | 'starting' | 'running' | 'restarting';

/** One server for all folders of the window. */
export class Server implements vscode.Disposable {
  private client: BaseLanguageClient | undefined;
  private wait = FIRST_WAIT_MS;
  private startedAt = 0;
  private restartTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly changed = new vscode.EventEmitter<Health>();
  readonly onDidChangeHealth = this.changed.event;
  health: Health = 'stopped';
  /** The last start failed: only a new setting or a command tries again. */
  failed = false;

  constructor(
    private readonly platform: Platform,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** The running client; undefined while there is none. */
  get running(): BaseLanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  /** How the server names a document. */
  name(uri: vscode.Uri): string {
    return this.running?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  /** The document that the server calls so. */
  uri(name: string): vscode.Uri {
    return this.running?.protocol2CodeConverter.asUri(name) ?? vscode.Uri.parse(name);
  }

  async start(): Promise<void> {
    if (this.client !== undefined) {
      return;
    }
    clearTimeout(this.restartTimer);
    this.failed = false;
    this.setHealth('starting');
    const schemes = this.platform.schemes();
    const client = this.platform.createClient({
      documentSelector: [
        ...languages().flatMap((language) => schemes.map((scheme) => ({ scheme, language }))),
        { scheme: PREVIEW_SCHEME },
        { scheme: BASE_SCHEME },
      ],
      initializationOptions: {
        commands: LENS_COMMANDS,
        virtualDocuments: true,
        // Trust that is granted later starts the server anew. Where nothing can be run, nothing is to be tried.
        untrusted: !vscode.workspace.isTrusted || !this.platform.runsPrograms,
      },
      outputChannel: this.output,
      errorHandler: this.errorHandler(),
      initializationFailedHandler: () => false,
    }, this.output);
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
      const { message, setting } = this.platform.notStarted();
      const choices = setting === undefined ? ['Show Output'] : ['Open Settings', 'Show Output'];
      const choice = await vscode.window.showErrorMessage(message, ...choices);
      if (choice === 'Open Settings') {
        await vscode.commands.executeCommand('workbench.action.openSettings', setting);
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
