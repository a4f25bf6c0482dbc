// The generated config beside the resource: follows every keystroke, shows where each line comes from.
import * as vscode from 'vscode';
import type { PreviewAnswer, PreviewLine } from './protocol';
import { previewRequest } from './protocol';
import { isResource } from './recognise';
import type { Server } from './server';

export const SCHEME = 'llsd-preview';

interface Shown {
  source: vscode.Uri;
  document: number;
  resource: number;
  answer: PreviewAnswer | undefined;
  /** Why there is no config, for the reader. */
  note: string;
}

export class Previews implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly shown = new Map<string, Shown>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly decorations: Record<'resource' | 'default' | 'current', vscode.TextEditorDecorationType>;

  constructor(private readonly server: Server) {
    const background = (color: string, ruler: boolean): vscode.TextEditorDecorationType =>
      vscode.window.createTextEditorDecorationType({
        isWholeLine: true,
        backgroundColor: new vscode.ThemeColor(color),
        ...(ruler ? { overviewRulerColor: new vscode.ThemeColor(color) } : {}),
      });
    this.decorations = {
      resource: background('llsd.previewResource', true),
      default: background('llsd.previewDefault', false),
      current: background('llsd.previewCurrent', true),
    };
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerDefinitionProvider({ scheme: SCHEME }, {
        provideDefinition: (document, position) => this.originOf(document.uri, position.line),
      }),
      vscode.languages.registerHoverProvider({ scheme: SCHEME }, {
        provideHover: (document, position) => this.describe(document.uri, position.line),
      }),
      vscode.workspace.onDidChangeTextDocument((change) => { this.refreshFrom(change.document.uri); }),
      vscode.workspace.onDidCloseTextDocument((document) => { this.shown.delete(document.uri.toString()); }),
      vscode.window.onDidChangeVisibleTextEditors(() => { this.decorateAll(); }),
      vscode.window.onDidChangeTextEditorSelection((change) => { this.follow(change); }),
      server.onDidChangeHealth((health) => {
        if (health === 'running') {
          for (const uri of this.shown.keys()) {
            void this.refresh(vscode.Uri.parse(uri));
          }
        }
      }),
    ];
  }

  /** Opens the config of the resource under the cursor, beside it. */
  async open(editor: vscode.TextEditor): Promise<void> {
    const answer = await this.ask(editor.document.uri, { position: editor.selection.active });
    if (answer === undefined) {
      void vscode.window.showInformationMessage('There is no LlamaStackDistribution at the cursor to preview.');
      return;
    }
    const uri = previewUri(editor.document.uri, answer);
    const { document: number, resource } = answer;
    this.shown.set(uri.toString(), { source: editor.document.uri, document: number, resource, answer, note: '' });
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

  /** The environment that the config of the resource under the cursor needs. */
  async environment(editor: vscode.TextEditor): Promise<PreviewAnswer['env'] | undefined> {
    return (await this.ask(editor.document.uri, { position: editor.selection.active }))?.env;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const shown = this.shown.get(uri.toString());
    if (shown?.answer === undefined) {
      return `# ${shown?.note ?? 'The resource of this preview is not open any more.'}\n`;
    }
    return shown.answer.text;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, ...Object.values(this.decorations), this.changed).dispose();
  }

  private async ask(
    source: vscode.Uri,
    place: { position: vscode.Position } | { document: number; resource: number },
  ): Promise<PreviewAnswer | undefined> {
    const client = this.server.running;
    if (client === undefined) {
      return undefined;
    }
    const which = 'position' in place
      ? { position: client.code2ProtocolConverter.asPosition(place.position) }
      : { document: place.document, resource: place.resource };
    const uri = client.code2ProtocolConverter.asUri(source);
    return (await client.sendRequest(previewRequest, { textDocument: { uri }, ...which })) ?? undefined;
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
    const answer = await this.ask(shown.source, { document: shown.document, resource: shown.resource }).catch(() => undefined);
    // Without an answer the last good config stays: a half-typed line must not empty the preview.
    if (answer === undefined || (shown.answer !== undefined && answer.version < shown.answer.version)) {
      return;
    }
    shown.answer = answer;
    this.changed.fire(uri);
    this.decorateAll();
  }

  private decorateAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const answer = this.shown.get(editor.document.uri.toString())?.answer;
      if (answer !== undefined) {
        editor.setDecorations(this.decorations.resource, rangesOf(answer.lines, (line) => line.kind === 'resource'));
        editor.setDecorations(
          this.decorations.default,
          rangesOf(answer.lines, (line) => line.kind === 'default' || line.kind === 'rule'),
        );
      }
    }
  }

  /** A moved cursor: in the resource, highlight what its line produces; in the preview, by a click, reveal its origin. */
  private follow(change: vscode.TextEditorSelectionChangeEvent): void {
    const line = change.textEditor.selection.active.line;
    const uri = change.textEditor.document.uri;
    if (uri.scheme === SCHEME) {
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
      if (shown?.answer === undefined || shown.source.toString() !== uri.toString()) {
        continue;
      }
      const produced = rangesOf(shown.answer.lines, (from) =>
        from.range !== undefined && from.range.start.line <= line && line <= from.range.end.line);
      editor.setDecorations(this.decorations.current, produced);
      const first = produced[0];
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
    const range = shown?.answer?.lines[line]?.range;
    return shown === undefined || range === undefined
      ? undefined
      : new vscode.Location(shown.source, new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character));
  }

  private describe(preview: vscode.Uri, line: number): vscode.Hover | undefined {
    const origin = this.shown.get(preview.toString())?.answer?.lines[line];
    if (origin === undefined) {
      return undefined;
    }
    const from = { resource: 'From the resource', base: 'From the base config', default: 'A default', rule: 'Added by a rule' };
    return new vscode.Hover(new vscode.MarkdownString(`${from[origin.kind]}: \`${origin.path}\``));
  }
}

function previewUri(source: vscode.Uri, answer: PreviewAnswer): vscode.Uri {
  return vscode.Uri.from({
    scheme: SCHEME,
    path: `/${answer.name === '' ? 'resource' : answer.name}/config.yaml`,
    query: new URLSearchParams({ source: source.toString(), document: String(answer.document), resource: String(answer.resource) }).toString(),
  });
}

function rangesOf(lines: PreviewLine[], wanted: (line: PreviewLine) => boolean): vscode.Range[] {
  return lines.flatMap((line, number) => (wanted(line) ? [new vscode.Range(number, 0, number, 0)] : []));
}
