// Which resource a command is for: the one that a code lens or a menu names, else the one under the cursor.
import * as vscode from 'vscode';
import type { Position } from 'vscode-languageclient';
import { concerns, isResource } from './recognise';
import type { Server } from './server';

export interface Place {
  document: vscode.TextDocument;
  position: vscode.Position;
}

/**
 * `args` as code lenses (`uri`, `position`), menus (a `vscode.Uri`) and the palette (nothing) give them. With `configs` a
 * config of the server will do, too.
 */
export async function placeOf(server: Server, args: unknown[], configs = false): Promise<Place | undefined> {
  const [uri, position] = args;
  const active = vscode.window.activeTextEditor;
  const named = uri instanceof vscode.Uri ? uri : typeof uri === 'string' ? server.uri(uri) : undefined;
  const editor = named === undefined
    ? active
    : vscode.window.visibleTextEditors.find((open) => open.document.uri.toString() === named.toString());
  const document = editor?.document ?? (named === undefined ? undefined : await vscode.workspace.openTextDocument(named));
  if (document === undefined || !(configs ? concerns(document) : isResource(document))) {
    void vscode.window.showInformationMessage(`Open a LlamaStackDistribution or OGXServer${configs ? ' or a config' : ''} first.`);
    return undefined;
  }
  return { document, position: isPosition(position)
    ? new vscode.Position(position.line, position.character)
    : editor?.selection.active ?? new vscode.Position(0, 0) };
}

function isPosition(value: unknown): value is Position {
  return typeof value === 'object' && value !== null && 'line' in value && 'character' in value;
}
