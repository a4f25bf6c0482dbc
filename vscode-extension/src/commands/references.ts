// What the server's "n references" lenses run: the editor's own list, which takes its own types.
import * as vscode from 'vscode';
import type { Location, Position } from 'vscode-languageclient';
import type { Server } from '../server';

/** `uri`, `position`, `locations`, as the protocol writes them. */
export async function showReferences(server: Server, args: unknown[]): Promise<void> {
  const [uri, position, locations] = args as [string, Position, Location[]];
  const convert = server.running?.protocol2CodeConverter;
  if (convert !== undefined) {
    await vscode.commands.executeCommand('editor.action.showReferences',
      convert.asUri(uri), convert.asPosition(position), locations.map((location) => convert.asLocation(location)));
  }
}
