// The generated config beside another one: the base it is laid over, that of the saved file, that of the cluster.
import * as vscode from 'vscode';
import type { Place } from '../place';
import type { Against, DiffSide } from '../protocol';
import { previewDiffRequest } from '../protocol';
import { DIFF_SCHEME } from '../recognise';
import type { Server } from '../server';

interface Choice extends vscode.QuickPickItem {
  against: Against;
}

const CHOICES: Choice[] = [
  { against: 'base', label: 'The base config', detail: 'What the resource changes in its distribution' },
  { against: 'saved', label: 'The saved file', detail: 'What the edits since the last save change' },
  { against: 'cluster', label: 'The cluster', detail: 'What applying the resource would change (reads with kubectl, where llsd.cluster.enabled is on)' },
];

/** Serves both sides of a comparison. They are made once: a comparison shows the moment it was asked for. */
export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly subscriptions: vscode.Disposable[];
  private count = 0;

  constructor(private readonly server: Server, private readonly clusters: boolean) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(DIFF_SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => { this.texts.delete(document.uri.toString()); }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** Asks what to compare with, unless the caller says it, and opens the comparison. */
  async open({ document, position }: Place, against?: Against): Promise<void> {
    const client = this.server.running;
    const chosen = against
      ?? (await vscode.window.showQuickPick(this.choices(), { placeHolder: 'Compare the generated config with what?' }))?.against;
    if (client === undefined || chosen === undefined) {
      return;
    }
    const place = {
      textDocument: { uri: client.code2ProtocolConverter.asUri(document.uri) },
      position: client.code2ProtocolConverter.asPosition(position),
    };
    try {
      const answer = await client.sendRequest(previewDiffRequest, { ...place, against: chosen });
      if (answer === null) {
        void vscode.window.showInformationMessage('There is no LlamaStackDistribution or OGXServer at the cursor to compare.');
        return;
      }
      await this.show('config.yaml', answer.left, answer.right);
    } catch (error) {
      // The server's sentence says what is missing.
      void vscode.window.showWarningMessage(error instanceof Error ? error.message : String(error));
    }
  }

  private choices(): Choice[] {
    return this.clusters ? CHOICES : CHOICES.filter(({ against }) => against !== 'cluster');
  }

  /** Opens two texts side by side; `file` is the name that they carry, for its colours. */
  async show(file: string, left: DiffSide, right: DiffSide): Promise<void> {
    const side = (name: string, text: string): vscode.Uri => {
      this.count += 1;
      const uri = vscode.Uri.from({ scheme: DIFF_SCHEME, path: `/${name}/${file}`, query: String(this.count) });
      this.texts.set(uri.toString(), text);
      return uri;
    };
    await vscode.commands.executeCommand('vscode.diff', side('left', left.text), side('right', right.text),
      `${left.title} ↔ ${right.title}`);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
