// Runs inside the extension host, with the whole `vscode` API: that of Node.js, or that of a browser.
import * as vscode from 'vscode';
import { tests } from './tests';

/** In a browser no program can be asked. */
const ASKS_A_CLUSTER = /cluster/;

function runsPrograms(): boolean {
  const manifest = vscode.extensions.getExtension('llamastack.llsd')?.packageJSON as { main?: string } | undefined;
  return manifest?.main !== undefined;
}

export async function run(): Promise<void> {
  const passed: string[] = [];
  const failed: { name: string; error: string }[] = [];
  for (const [name, test] of tests.filter(([name]) => runsPrograms() || !ASKS_A_CLUSTER.test(name))) {
    try {
      await test();
      passed.push(name);
    } catch (error) {
      failed.push({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder !== undefined) {
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder.uri, 'results.json'),
      new TextEncoder().encode(JSON.stringify({ passed, failed })));
  }
  if (failed.length > 0) {
    throw new Error(`${failed.length} failed`);
  }
}
