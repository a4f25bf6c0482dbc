// The entry in VS Code in a browser, where no program can be started: the server is a module.
import * as vscode from 'vscode';
import { activateOn } from '../extension';
import type { Exports } from '../extension';
import { WebClient } from './client';

/** Where the files of workspaces in browsers come from, beside the schemes of the folders at hand. */
const SCHEMES = ['file', 'untitled', 'vscode-remote', 'vscode-vfs'];

export function activate(context: vscode.ExtensionContext): Exports {
  return activateOn({
    runsPrograms: false,
    schemes: () => [...new Set([...SCHEMES, ...(vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.scheme)])],
    createClient: (options, output) => new WebClient(context, output, options),
    notStarted: () => ({ message: 'llsd did not start in this browser. Its output says why.' }),
  }, context);
}
