// How the preview looks: each line by its origin, the lines that the cursor's line produces, and whether it is stale.
// Colour is never the only sign: the edge of a line differs too, and a hover says where it comes from.
import * as vscode from 'vscode';
import type { PreviewAnswer, PreviewLine } from '../protocol';

type Look = 'resource' | 'base' | 'default' | 'current' | 'stale';

export class Colours implements vscode.Disposable {
  private readonly looks: Record<Look, vscode.TextEditorDecorationType>;

  constructor() {
    const line = (name: string, edge: string, ruler: boolean): vscode.TextEditorDecorationType => {
      const color = new vscode.ThemeColor(`llsd.preview${name}`);
      return vscode.window.createTextEditorDecorationType({
        isWholeLine: true,
        backgroundColor: color,
        borderColor: new vscode.ThemeColor(`llsd.preview${name}Edge`),
        borderStyle: edge,
        borderWidth: '0 0 0 3px',
        ...(ruler ? { overviewRulerColor: color } : {}),
      });
    };
    this.looks = {
      resource: line('Resource', 'solid', true),
      base: line('Base', 'none', false),
      default: line('Default', 'dashed', false),
      current: line('Current', 'double', true),
      stale: vscode.window.createTextEditorDecorationType({ isWholeLine: true, opacity: '0.6' }),
    };
  }

  /** Colours every line of the preview by its origin. */
  byOrigin(editor: vscode.TextEditor, answer: PreviewAnswer, stale: boolean): void {
    const set = (look: Look, kinds: PreviewLine['kind'][]): void => {
      editor.setDecorations(this.looks[look], linesOf(answer, (line) => kinds.includes(line.kind)));
    };
    set('resource', ['resource']);
    set('base', ['base']);
    set('default', ['default', 'rule']);
    editor.setDecorations(this.looks.stale, stale ? linesOf(answer, () => true) : []);
  }

  /** Marks what the resource's line number `line` produces; returns the first such line of the preview. */
  produced(editor: vscode.TextEditor, answer: PreviewAnswer, line: number): vscode.Range | undefined {
    const lines = linesOf(answer, ({ range }) => range !== undefined && range.start.line <= line && line <= range.end.line);
    editor.setDecorations(this.looks.current, lines);
    return lines[0];
  }

  dispose(): void {
    vscode.Disposable.from(...Object.values(this.looks)).dispose();
  }
}

function linesOf(answer: PreviewAnswer, wanted: (line: PreviewLine) => boolean): vscode.Range[] {
  return answer.lines.flatMap((line, number) => (wanted(line) ? [new vscode.Range(number, 0, number, 0)] : []));
}
