// The extension's entry: starts the server when a document needs it, and binds the commands.
import * as vscode from 'vscode';
import { Previews } from './preview';
import { isResource } from './recognise';
import { Server } from './server';
import { statusItem } from './status';
import { newResource } from './templates';

/** What the extension's own tests may look at. */
export interface Exports {
  server: Server;
}

export function activate(context: vscode.ExtensionContext): Exports {
  const output = vscode.window.createOutputChannel('LlamaStackDistribution', { log: true });
  const server = new Server(context, output);
  const previews = new Previews(server);
  const command = (name: string, run: () => unknown): vscode.Disposable => vscode.commands.registerCommand(name, run);
  const onResource = (run: (editor: vscode.TextEditor) => Promise<void>) => async (): Promise<void> => {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || !isResource(editor.document)) {
      void vscode.window.showInformationMessage('Open a LlamaStackDistribution first.');
      return;
    }
    await server.start();
    await run(editor);
  };
  context.subscriptions.push(
    output,
    server,
    previews,
    statusItem(server),
    command('llsd.preview', onResource((editor) => previews.open(editor))),
    command('llsd.migrate', onResource(migrate)),
    command('llsd.showEnvironment', onResource(async (editor) => { await showEnvironment(previews, editor); })),
    command('llsd.newResource', newResource),
    command('llsd.restart', () => server.restart()),
    command('llsd.showOutput', () => { output.show(); }),
    vscode.workspace.onDidOpenTextDocument((document) => { startFor(server, document); }),
    vscode.workspace.onDidChangeTextDocument((change) => { startFor(server, change.document); }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('llsd.server.path') && server.health !== 'stopped') {
        void server.restart();
      }
    }),
  );
  for (const document of vscode.workspace.textDocuments) {
    startFor(server, document);
  }
  return { server };
}

/** YAML alone is no reason to run a server; a resource in it is. */
function startFor(server: Server, document: vscode.TextDocument): void {
  if (server.health === 'stopped' && isResource(document)) {
    void server.start();
  }
}

async function migrate(editor: vscode.TextEditor): Promise<void> {
  const everything = new vscode.Range(0, 0, editor.document.lineCount, 0);
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider', editor.document.uri, everything);
  const action = actions.find((offered) => offered.title.startsWith('Migrate'));
  if (action?.edit === undefined) {
    void vscode.window.showInformationMessage('Nothing here is older than v1alpha2.');
    return;
  }
  await vscode.workspace.applyEdit(action.edit);
}

async function showEnvironment(previews: Previews, editor: vscode.TextEditor): Promise<void> {
  const env = await previews.environment(editor);
  if (env === undefined || env.length === 0) {
    void vscode.window.showInformationMessage('The generated config needs no environment variables of its own.');
    return;
  }
  const picked = await vscode.window.showQuickPick(
    env.map((variable) => ({ label: variable.name, description: variable.source, detail: variable.path })),
    { placeHolder: 'Select a variable to copy its name' },
  );
  if (picked !== undefined) {
    await vscode.env.clipboard.writeText(picked.label);
  }
}
