import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Exports } from '../../src/extension';

const SCHEME = 'llsd-preview';

function inWorkspace(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'a folder is open');
  return vscode.Uri.joinPath(folder.uri, name);
}

async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(inWorkspace(name)), vscode.ViewColumn.One);
}

/** Waits until `look` finds something; 15 seconds at most. */
async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`never happened: ${what}`);
}

function ours(uri: vscode.Uri): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter((found) => found.source === 'llsd');
}

async function replace(editor: vscode.TextEditor, from: string, to: string): Promise<void> {
  const at = editor.document.getText().indexOf(from);
  assert.ok(at >= 0, `"${from}" is in the text`);
  const range = new vscode.Range(editor.document.positionAt(at), editor.document.positionAt(at + from.length));
  assert.ok(await editor.edit((edit) => { edit.replace(range, to); }));
}

function positionOf(document: vscode.TextDocument, text: string, after = 0): vscode.Position {
  return document.positionAt(document.getText().indexOf(text) + after);
}

async function extension(): Promise<Exports> {
  const found = vscode.extensions.getExtension<Exports>('llamastack.llsd');
  assert.ok(found, 'the extension is there');
  return found.activate();
}

export const tests: [string, () => Promise<void>][] = [
  ['activates for a resource and starts the server', async () => {
    await open('fresh.yaml');
    const { server } = await extension();
    await eventually('the server runs', () => (server.health === 'running' ? true : undefined));
  }],
  ['shows a mistyped provider with the nearest name', async () => {
    const editor = await open('fresh.yaml');
    const found = await eventually('a diagnostic', () => ours(editor.document.uri)[0]);
    assert.match(found.message, /vllm/);
    assert.equal(editor.document.getText(found.range).trim(), 'vlm');
  }],
  ['mends it with a quick fix', async () => {
    const editor = await open('fresh.yaml');
    const range = new vscode.Range(positionOf(editor.document, 'vlm'), positionOf(editor.document, 'vlm', 3));
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider', editor.document.uri, range);
    const fix = actions.find((action) => action.edit !== undefined && action.title.includes('vllm'));
    assert.ok(fix?.edit, `a fix among ${actions.map((action) => action.title).join(', ')}`);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.match(editor.document.getText(), /provider: vllm\n/);
    await eventually('no diagnostic is left', () => (ours(editor.document.uri).length === 0 ? true : undefined));
  }],
  ['offers provider types', async () => {
    const editor = await open('fresh.yaml');
    const at = positionOf(editor.document, 'provider: vllm', 'provider: v'.length);
    const offers = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider', editor.document.uri, at);
    const labels = offers.items.map((item) => (typeof item.label === 'string' ? item.label : item.label.label));
    assert.ok(labels.includes('vllm'), labels.join(', '));
  }],
  ['hovers with the produced config', async () => {
    const editor = await open('fresh.yaml');
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider', editor.document.uri, positionOf(editor.document, 'provider: vllm', 12));
    const text = hovers.flatMap((hover) => hover.contents)
      .map((part) => (part instanceof vscode.MarkdownString ? part.value : '')).join('\n');
    assert.match(text, /remote::vllm/);
  }],
  ['previews the config and follows the editor', async () => {
    const editor = await open('fresh.yaml');
    editor.selection = new vscode.Selection(positionOf(editor.document, 'provider: vllm'), positionOf(editor.document, 'provider: vllm'));
    await vscode.commands.executeCommand('llsd.preview');
    const preview = await eventually('a preview', () =>
      vscode.window.visibleTextEditors.find((shown) => shown.document.uri.scheme === SCHEME));
    assert.match(preview.document.getText(), /base_url: http:\/\/vllm:8000\/v1/);
    await replace(editor, 'http://vllm:8000/v1', 'http://elsewhere:8000/v1');
    await eventually('the preview follows', () =>
      (preview.document.getText().includes('base_url: http://elsewhere:8000/v1') ? true : undefined));
    const line = preview.document.getText().split('\n').findIndex((text) => text.includes('elsewhere'));
    const origins = await vscode.commands.executeCommand<vscode.Location[]>(
      'vscode.executeDefinitionProvider', preview.document.uri, new vscode.Position(line, 20));
    const origin = origins[0];
    assert.ok(origin, 'the line has an origin');
    assert.equal(origin.uri.toString(), editor.document.uri.toString());
    assert.match(editor.document.lineAt(origin.range.start.line).text, /elsewhere/);
  }],
  ['migrates a v1alpha1 resource and keeps its comment', async () => {
    const editor = await open('legacy.yaml');
    await eventually('the offer to migrate', async () => {
      await vscode.commands.executeCommand('llsd.migrate');
      return editor.document.getText().includes('v1alpha2') ? true : undefined;
    });
    assert.match(editor.document.getText(), /# the shared model server/);
  }],
  ['starts the server again after a crash', async () => {
    await open('fresh.yaml');
    const { server } = await extension();
    const before = server.running;
    assert.ok(before, 'a server runs');
    await before.sendNotification('exit'); // an exit without shutdown: ends at once, with an error
    await eventually('another server runs', () => (server.running !== undefined && server.running !== before ? true : undefined));
    await eventually('it answers', async () => {
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
        'vscode.executeHoverProvider', inWorkspace('fresh.yaml'), new vscode.Position(9, 12));
      return hovers.length > 0 ? true : undefined;
    });
  }],
];
