// The generated config beside the resource: follows every keystroke, shows where each line comes from.
import * as vscode from 'vscode';
import type { Place } from '../place';
import type { PreviewAnswer } from '../protocol';
import { previewRequest } from '../protocol';
import { virtualText } from './base';
import { isResource, PREVIEW_SCHEME } from '../recognise';
import type { Server } from '../server';
import { Colours } from './colours';

interface Shown {
  source: vscode.Uri;
  answer: PreviewAnswer;
  /** Whether it shows what the resource brings only. */
  fold: boolean;
}

export class Previews implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly shown = new Map<string, Shown>();
  private readonly colours = new Colours();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, this),
      vscode.workspace.onDidChangeTextDocument((change) => { this.refreshFrom(change.document.uri); }),
      vscode.workspace.onDidCloseTextDocument((document) => { this.shown.delete(document.uri.toString()); }),
      vscode.window.onDidChangeVisibleTextEditors(() => { this.decorateAll(); }),
      vscode.window.onDidChangeTextEditorSelection((change) => { this.follow(change); }),
      server.onDidChangeHealth((health) => {
        if (health === 'running') {
          this.refreshAll();
        }
      }),
      // Another version may give another config.
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('llsd.llamaStackVersion')) {
          this.refreshAll();
        }
      }),
    ];
  }

  /** Opens the config of the resource at `place`, beside it. */
  async open(place: Place): Promise<void> {
    const answer = await this.answerFor(place);
    if (answer === undefined) {
      void vscode.window.showInformationMessage('There is no LlamaStackDistribution or OGXServer at the cursor to preview.');
      return;
    }
    const uri = previewUri(this.server.name(place.document.uri), answer);
    this.shown.set(uri.toString(), { source: place.document.uri, answer, fold: false });
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    if (document.languageId !== answer.languageId) {
      await vscode.languages.setTextDocumentLanguage(document, answer.languageId);
    }
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: false,
    });
    this.decorateAll();
  }

  /** Folds what the distribution brings away in the preview at hand, or shows it again. */
  async toggleFold(): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const shown = uri === undefined ? undefined : this.shown.get(uri.toString());
    if (uri === undefined || shown === undefined) {
      void vscode.window.showInformationMessage('Open the preview of a resource first.');
      return;
    }
    shown.fold = !shown.fold;
    await this.refresh(uri);
  }

  /** The server's answer for the resource at `place`, such as its environment. */
  async answerFor({ document, position }: Place): Promise<PreviewAnswer | undefined> {
    const client = this.server.running;
    return client === undefined
      ? undefined
      : this.ask(document.uri, { position: client.code2ProtocolConverter.asPosition(position) });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const shown = this.shown.get(uri.toString())?.answer.text;
    return shown ?? (await virtualText(this.server, uri)) ?? '# Run "Show the Generated config.yaml" in the resource again.\n';
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.colours.dispose();
    this.changed.dispose();
  }

  private async ask(
    source: vscode.Uri,
    which: { position: { line: number; character: number } } | { document: number; resource?: number; fold?: boolean },
  ): Promise<PreviewAnswer | undefined> {
    const client = this.server.running;
    if (client === undefined) {
      return undefined;
    }
    const uri = client.code2ProtocolConverter.asUri(source);
    return (await client.sendRequest(previewRequest, { textDocument: { uri }, ...which })) ?? undefined;
  }

  private refreshAll(): void {
    for (const uri of this.shown.keys()) {
      void this.refresh(vscode.Uri.parse(uri));
    }
  }

  private refreshFrom(source: vscode.Uri): void {
    for (const [uri, shown] of this.shown) {
      if (shown.source.toString() === source.toString()) {
        void this.refresh(vscode.Uri.parse(uri));
      }
    }
  }

  private async refresh(uri: vscode.Uri): Promise<void> {
    const shown = this.shown.get(uri.toString());
    if (shown === undefined) {
      return;
    }
    const { document, resource } = shown.answer;
    const which = { document, ...(resource === undefined ? {} : { resource }), fold: shown.fold };
    const answer = await this.ask(shown.source, which).catch(() => undefined);
    // Without an answer the last good config stays: a half-typed line must not empty the preview.
    if (answer === undefined || answer.version < shown.answer.version) {
      return;
    }
    const same = answer.text === shown.answer.text;
    shown.answer = answer;
    if (same) {
      this.decorateAll(); // origins may have moved
    } else {
      this.changed.fire(uri);
    }
  }

  private decorateAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const answer = this.shown.get(editor.document.uri.toString())?.answer;
      if (answer !== undefined) {
        this.colours.byOrigin(editor, answer, answer.stale === true);
      }
    }
  }

  /** A moved cursor: in the resource, highlight what its line produces; in the preview, by a click, reveal its origin. */
  private follow(change: vscode.TextEditorSelectionChangeEvent): void {
    const line = change.textEditor.selection.active.line;
    const uri = change.textEditor.document.uri;
    if (uri.scheme === PREVIEW_SCHEME) {
      if (change.kind === vscode.TextEditorSelectionChangeKind.Mouse) {
        this.reveal(uri, line);
      }
      return;
    }
    if (!isResource(change.textEditor.document)) {
      return;
    }
    for (const editor of vscode.window.visibleTextEditors) {
      const shown = this.shown.get(editor.document.uri.toString());
      if (shown?.source.toString() !== uri.toString()) {
        continue;
      }
      const first = this.colours.produced(editor, shown.answer, line);
      if (first !== undefined) {
        editor.revealRange(first, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
  }

  private reveal(preview: vscode.Uri, line: number): void {
    const origin = this.originOf(preview, line);
    const editor = vscode.window.visibleTextEditors.find((open) => open.document.uri.toString() === origin?.uri.toString());
    if (origin !== undefined && editor !== undefined) {
      editor.selection = new vscode.Selection(origin.range.start, origin.range.start);
      editor.revealRange(origin.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  private originOf(preview: vscode.Uri, line: number): vscode.Location | undefined {
    const shown = this.shown.get(preview.toString());
    const range = shown?.answer.lines[line]?.range;
    return shown === undefined || range === undefined
      ? undefined
      : new vscode.Location(shown.source, new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character));
  }
}

function previewUri(source: string, answer: PreviewAnswer): vscode.Uri {
  return vscode.Uri.from({
    scheme: PREVIEW_SCHEME,
    path: `/${answer.name === '' ? 'resource' : answer.name}/config.yaml`,
    // As the server writes it, so that its places in the preview are places in this document.
    query: `document=${answer.document}&resource=${answer.resource ?? 0}&source=${source}`,
  });
}
