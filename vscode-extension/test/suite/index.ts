// Runs inside the extension host, with the whole `vscode` API.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { tests } from './tests';

export async function run(): Promise<void> {
  const passed: string[] = [];
  const failed: { name: string; error: string }[] = [];
  for (const [name, test] of tests) {
    try {
      await test();
      passed.push(name);
    } catch (error) {
      failed.push({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '.';
  fs.writeFileSync(path.join(folder, 'results.json'), JSON.stringify({ passed, failed }));
  if (failed.length > 0) {
    throw new Error(`${failed.length} failed`);
  }
}
