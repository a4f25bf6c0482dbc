// Commands that run code actions of the server: the rewrite is the server's, here it is only asked for.
import * as vscode from 'vscode';
import type { Place } from '../place';

/** The server's kinds of actions. */
const MIGRATE = 'refactor.rewrite.llsd.migrate';
const FIX_ALL = 'source.fixAll.llsd';

/** Rewrites the resource at `place` as v1alpha2. */
export async function migrate(place: Place): Promise<void> {
  const around = new vscode.Range(place.position, place.position);
  const everything = new vscode.Range(0, 0, place.document.lineCount, 0);
  const action = (await actions(place, around, MIGRATE)).at(0) ?? (await actions(place, everything, MIGRATE)).at(0);
  if (action?.disabled !== undefined) {
    void vscode.window.showInformationMessage(action.disabled.reason);
  } else if (action === undefined || !(await apply(action))) {
    void vscode.window.showInformationMessage('Nothing here is older than v1alpha2.');
  }
}

/** Applies every fix of the document that leaves nothing to decide. */
export async function fixAll(place: Place): Promise<void> {
  const everything = new vscode.Range(0, 0, place.document.lineCount, 0);
  const action = (await actions(place, everything, FIX_ALL)).at(0);
  if (action === undefined || !(await apply(action))) {
    void vscode.window.showInformationMessage('Nothing here can be fixed without a decision of yours.');
  }
}

async function actions(place: Place, range: vscode.Range, kind: string): Promise<vscode.CodeAction[]> {
  // The last argument has the editor resolve that many actions, where the server leaves the edits for later.
  return vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider', place.document.uri, range, kind, 20);
}

async function apply(action: vscode.CodeAction): Promise<boolean> {
  if (action.edit !== undefined) {
    return vscode.workspace.applyEdit(action.edit);
  }
  if (action.command !== undefined) {
    await vscode.commands.executeCommand(action.command.command, ...(action.command.arguments ?? []) as unknown[]);
    return true;
  }
  return false;
}
