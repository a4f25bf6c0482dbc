// The status bar item: the state of the server, the findings of the active document, and the version of llama-stack or
// ogx that the resource or config at the cursor is measured against, with what tells it.
import * as vscode from 'vscode';
import type { VersionAnswer } from './protocol';
import { versionRequest } from './protocol';
import { concerns, isResource } from './recognise';
import type { Server } from './server';

const SETTLED_MS = 300;

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('llsd.status', vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];
  private version: VersionAnswer | undefined;
  private later: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly server: Server) {
    this.item.name = 'llsd';
    this.item.command = 'llsd.selectVersion';
    const refresh = (): void => { this.refresh(); };
    const ask = (): void => { this.refresh(); this.askLater(); };
    this.subscriptions = [
      server.onDidChangeHealth(ask),
      vscode.window.onDidChangeActiveTextEditor(ask),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.document === vscode.window.activeTextEditor?.document) {
          ask();
        }
      }),
      vscode.window.onDidChangeTextEditorSelection((change) => {
        if (change.textEditor === vscode.window.activeTextEditor) {
          this.askLater();
        }
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('llsd.llamaStackVersion')) {
          ask();
        }
      }),
      vscode.languages.onDidChangeDiagnostics(refresh),
    ];
    ask();
  }

  dispose(): void {
    clearTimeout(this.later);
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.item.dispose();
  }

  /** What is shown, for tests. */
  get shown(): { text: string; tooltip: string } {
    return { text: this.item.text, tooltip: typeof this.item.tooltip === 'string' ? this.item.tooltip : '' };
  }

  private refresh(): void {
    const document = vscode.window.activeTextEditor?.document;
    const resource = document !== undefined && isResource(document);
    void vscode.commands.executeCommand('setContext', 'llsd.resourceActive', resource);
    if (document === undefined || !concerns(document)) {
      this.item.hide();
      return;
    }
    const { health } = this.server;
    const findings = vscode.languages.getDiagnostics(document.uri).filter((found) => found.source === 'llsd');
    const errors = findings.filter((found) => found.severity === vscode.DiagnosticSeverity.Error).length;
    const version = this.version === undefined || this.version.versions === '' ? '' : ` · ${this.version.versions}`;
    const reason = this.version === undefined ? '' : ` (${this.version.reason})`;
    if (health === 'running') {
      this.item.text = `${errors > 0 ? '$(error)' : '$(check)'} llsd: ${findings.length}${version}`;
      this.item.tooltip = `${findings.length} findings, ${errors} of them errors${version}${reason}. Select to check against another version.`;
    } else {
      this.item.text = `$(sync~spin) llsd ${health}`;
      this.item.tooltip = `The server is ${health}.`;
    }
    this.item.accessibilityInformation = { label: `llsd: ${this.item.tooltip}` };
    this.item.show();
  }

  /** The version needs a request: only once the typing rests. */
  private askLater(): void {
    clearTimeout(this.later);
    this.later = setTimeout(() => void this.ask(), SETTLED_MS);
  }

  private async ask(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const client = this.server.running;
    const wanted = editor !== undefined && concerns(editor.document);
    this.version = wanted && client !== undefined
      ? await client.sendRequest(versionRequest, {
        textDocument: { uri: client.code2ProtocolConverter.asUri(editor.document.uri) },
        position: client.code2ProtocolConverter.asPosition(editor.selection.active),
      }).then((answer) => answer ?? undefined, () => undefined)
      : undefined;
    this.refresh();
  }
}
