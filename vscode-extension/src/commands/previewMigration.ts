// What a migration would make of the files that it changes, side by side, before anything is changed.
import * as vscode from 'vscode';
import { CodeActionRequest, CodeActionResolveRequest } from 'vscode-languageclient';
import type { CodeAction } from 'vscode-languageclient';
import type { Place } from '../place';
import type { Diffs } from '../preview/diff';
import type { Server } from '../server';

/** The kinds of the server's migrations: of resources, to ogx, and of configs to another version. */
const KINDS = ['refactor.rewrite.llsd.migrate', 'refactor.rewrite.llsd.ogx', 'refactor.rewrite.llsd.config'];

/** Asks for one of the migrations at `place`, unless `title` names it, shows its result, and offers to make it. */
export async function previewMigration(server: Server, diffs: Diffs, place: Place, title?: string): Promise<void> {
  const client = server.running;
  if (client === undefined) {
    return;
  }
  const at = client.code2ProtocolConverter.asPosition(place.position);
  const offered = await client.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: client.code2ProtocolConverter.asUri(place.document.uri) },
    range: { start: at, end: at },
    context: { diagnostics: [], only: KINDS },
  });
  const possible = (offered ?? []).filter((action): action is CodeAction => !('command' in action && typeof action.command === 'string'))
    .filter((action) => action.disabled === undefined);
  if (possible.length === 0) {
    void vscode.window.showInformationMessage('There is nothing to migrate at the cursor.');
    return;
  }
  const wanted = title ?? await vscode.window.showQuickPick(possible.map((action) => action.title), { placeHolder: 'Which migration?' });
  const action = possible.find((one) => one.title === wanted);
  if (action === undefined) {
    return;
  }
  try {
    // What is lost, the server tells by itself.
    const resolved = action.edit === undefined ? await client.sendRequest(CodeActionResolveRequest.type, action) : action;
    const edit = await client.protocol2CodeConverter.asWorkspaceEdit(resolved.edit);
    if (edit === undefined || edit.entries().length === 0) {
      void vscode.window.showInformationMessage('This migration changes nothing.');
      return;
    }
    for (const [uri, edits] of edit.entries()) {
      const document = await vscode.workspace.openTextDocument(uri);
      const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
      await diffs.show(name, { title: name, text: document.getText() }, { title: action.title, text: edited(document, edits) });
    }
    void offer(action.title, edit);
  } catch (error) {
    // The server's sentence says why not.
    void vscode.window.showWarningMessage(error instanceof Error ? error.message : String(error));
  }
}

async function offer(title: string, edit: vscode.WorkspaceEdit): Promise<void> {
  if (await vscode.window.showInformationMessage(`${title}?`, 'Apply') === 'Apply') {
    await vscode.workspace.applyEdit(edit);
  }
}

/** The text of a document after edits that do not overlap. */
function edited(document: vscode.TextDocument, edits: vscode.TextEdit[]): string {
  const from = (edit: vscode.TextEdit): number => document.offsetAt(edit.range.start);
  const backwards = [...edits].sort((one, other) => from(other) - from(one));
  return backwards.reduce((text, edit) =>
    text.slice(0, from(edit)) + edit.newText + text.slice(document.offsetAt(edit.range.end)), document.getText());
}
