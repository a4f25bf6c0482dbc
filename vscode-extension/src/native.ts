// The entry in VS Code on a desktop, and on the machine that a remote window is about: the server is a program.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';
import { activateOn } from './extension';
import type { Exports } from './extension';

/** The binary to start: the setting, else the bundled one, else whatever the PATH has. */
function binaryPath(context: vscode.ExtensionContext): string {
  const name = process.platform === 'win32' ? 'llsd.exe' : 'llsd';
  const configured = vscode.workspace.getConfiguration('llsd').get<string>('server.path', '').trim();
  if (configured !== '') {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    return path.isAbsolute(configured) || folder === undefined ? configured : path.join(folder, configured);
  }
  const bundled = path.join(context.extensionPath, 'server', name);
  return fs.existsSync(bundled) ? bundled : onPath(name) ?? name;
}

/** The program in a folder of the PATH. Windows would look in the folder of the workspace first. */
function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

export function activate(context: vscode.ExtensionContext): Exports {
  return activateOn({
    runsPrograms: true,
    schemes: () => ['file', 'untitled'],
    // Not in the folder of the workspace, where Windows would find programs before those of the PATH.
    createClient: (options) => new LanguageClient('llsd', 'llsd',
      { command: binaryPath(context), args: ['lsp'], options: { cwd: context.extensionPath } }, options),
    notStarted: () => ({
      message: `llsd did not start: "${binaryPath(context)}". Set "llsd.server.path" to a working binary, or reinstall the extension.`,
      setting: 'llsd.server.path',
    }),
    schema: (version) => fs.readFileSync(path.join(context.extensionPath, 'schemas', `${version}.json`), 'utf8'),
  }, context);
}
