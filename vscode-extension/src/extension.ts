// What the extension is in every place: starts the server when a document needs it, and binds the commands.
import * as vscode from 'vscode';
import { fixAll, migrate } from './commands/actions';
import { showEnvironment } from './commands/environment';
import { kubectlCommands } from './commands/kubectl';
import { newResource } from './commands/newResource';
import { previewMigration } from './commands/previewMigration';
import { showReferences } from './commands/references';
import { selectVersion } from './commands/version';
import { offerSchema } from './fallback';
import type { Place } from './place';
import { placeOf } from './place';
import type { Platform } from './platform';
import { baseConfigs } from './preview/base';
import { Diffs } from './preview/diff';
import { Previews } from './preview/previews';
import type { Against } from './protocol';
import { concerns, MARKDOWN } from './recognise';
import { Server } from './server';
import { Status } from './status';

/** What the extension's own tests may look at. */
export interface Exports {
  server: Server;
  status: Status;
}

/** Binds everything to what the place at hand has to offer. */
export function activateOn(platform: Platform, context: vscode.ExtensionContext): Exports {
  void vscode.commands.executeCommand('setContext', 'llsd.runsPrograms', platform.runsPrograms);
  const output = vscode.window.createOutputChannel('llsd', { log: true });
  const server = new Server(platform, output);
  const previews = new Previews(server);
  const diffs = new Diffs(server, platform.runsPrograms);
  const status = new Status(server);
  const command = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(name, run);
  const onResource = (run: (place: Place) => Promise<void>) => async (...args: unknown[]): Promise<void> => {
    const place = await placeOf(server, args);
    if (place !== undefined) {
      await server.start();
      await run(place);
    }
  };
  const compare = (against?: Against): ((...args: unknown[]) => Promise<void>) =>
    onResource((place) => diffs.open(place, against));
  context.subscriptions.push(
    output,
    server,
    previews,
    diffs,
    baseConfigs(server),
    status,
    command('llsd.preview', onResource((place) => previews.open(place))),
    command('llsd.previewFold', () => previews.toggleFold()),
    command('llsd.previewDiff', compare()),
    command('llsd.previewDiffBase', compare('base')),
    command('llsd.previewDiffSaved', compare('saved')),
    command('llsd.previewDiffCluster', compare('cluster')),
    command('llsd.migrate', onResource(migrate)),
    command('llsd.previewMigration', async (...args) => {
      const place = await placeOf(server, args, true);
      if (place !== undefined) {
        await server.start();
        await previewMigration(server, diffs, place, typeof args[2] === 'string' ? args[2] : undefined);
      }
    }),
    command('llsd.fixAll', onResource(fixAll)),
    command('llsd.showEnvironment', onResource(async (place) => showEnvironment(await previews.answerFor(place)))),
    command('llsd.copyKubectl', onResource(async (place) => {
      await vscode.env.clipboard.writeText(kubectlCommands(place.document, await previews.answerFor(place)));
      void vscode.window.setStatusBarMessage('$(clippy) kubectl command copied', 3000);
    })),
    command('llsd.newResource', newResource),
    command('llsd.selectVersion', () => selectVersion(context.extension)),
    command('llsd.showReferences', (...args) => showReferences(server, args)),
    command('llsd.restart', () => server.restart()),
    command('llsd.showOutput', () => { output.show(); }),
    vscode.workspace.onDidOpenTextDocument((document) => { startFor(server, document); }),
    vscode.workspace.onDidChangeTextDocument((change) => { startFor(server, change.document); }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => { restartIfUsed(server); }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('llsd.server.path') || change.affectsConfiguration(MARKDOWN)) {
        restartIfUsed(server);
      }
    }),
  );
  for (const document of vscode.workspace.textDocuments) {
    startFor(server, document);
  }
  const { schema } = platform;
  if (schema !== undefined) {
    offerSchema(schema, server).catch((error: unknown) => { output.warn(`no schema for the YAML extension: ${String(error)}`); });
  }
  return { server, status };
}

/** YAML alone is no reason to run a server; a resource or a config in it is. */
function startFor(server: Server, document: vscode.TextDocument): void {
  if (server.health === 'stopped' && !server.failed && concerns(document)) {
    void server.start();
  }
}

function restartIfUsed(server: Server): void {
  if (server.health !== 'stopped' || server.failed) {
    void server.restart();
  }
}
