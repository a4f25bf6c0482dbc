import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { quoted } from '../../src/commands/kubectl';
import { TEMPLATES } from '../../src/commands/newResource';
import type { Exports } from '../../src/extension';
import { schemaFor } from '../../src/fallback';
import type { PreviewAnswer } from '../../src/protocol';
import { concerns, DIFF_SCHEME, PREVIEW_SCHEME as SCHEME } from '../../src/recognise';

function inWorkspace(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'a folder is open');
  return vscode.Uri.joinPath(folder.uri, name);
}

async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(inWorkspace(name)), vscode.ViewColumn.One);
}

/**
 * How long an event may take, in milliseconds. It bounds a hang, whatever else the machine does. After the first wait in
 * vain it is short: what follows has probably the same cause, and must not cost minutes each.
 */
let patience = 300_000;

/** Waits until `look` finds something. */
async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + patience; Date.now() < end;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  patience = 15_000;
  throw new Error(`never happened: ${what}`);
}

/** The comparisons of which both sides are open. */
function comparisons(): { left: string; right: string }[] {
  const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === DIFF_SCHEME);
  const sides = new Map(open.map((document) => [Number(document.uri.query), document]));
  return [...sides].flatMap(([number, right]) => {
    const left = sides.get(number - 1);
    return right.uri.path.startsWith('/right/') && left !== undefined
      ? [{ left: left.getText(), right: right.getText() }] : [];
  });
}

/**
 * Asks for a comparison until one with these sides is shown: the server may not be able to yet, and one that was asked for
 * before may open late.
 */
async function compared(name: string, command: string, isWanted: (left: string, right: string) => boolean): Promise<void> {
  await eventually('both sides', async () => {
    await open(name);
    await vscode.commands.executeCommand(command);
    return comparisons().find(({ left, right }) => isWanted(left, right));
  });
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
  ['tells what is wrong with files that are not open, as they come and go', async () => {
    await eventually('a diagnostic of a file that was there', () => ours(inWorkspace('broken.yaml'))[0]);
    const later = inWorkspace('later.yaml');
    const text = (await vscode.workspace.openTextDocument(inWorkspace('broken.yaml'))).getText().replace(/name: .*/, 'name: later');
    await vscode.workspace.fs.writeFile(later, new TextEncoder().encode(text));
    await eventually('a diagnostic of a file that came later', () => ours(later)[0]);
    await vscode.workspace.fs.delete(later);
    await eventually('nothing is said of a file that is gone', () => (ours(later).length === 0 ? true : undefined));
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
  ['counts ConfigMaps and bare configs among its documents, other YAML not', async () => {
    const open = (content: string): Thenable<vscode.TextDocument> => vscode.workspace.openTextDocument({ language: 'yaml', content });
    assert.ok(concerns(await open('kind: ConfigMap\ndata:\n  config.yaml: |\n    version: 2\n')));
    assert.ok(concerns(await open('version: 2\nimage_name: starter\napis: [inference]\n')));
    assert.ok(concerns(await open('- kind: LlamaStackDistribution\n')));
    assert.ok(!concerns(await open('version: 2\nservices:\n  web: {}\n')));
    assert.ok(!concerns(await open('kind: Deployment\n')));
  }],
  ['lists the environment that the config needs', async () => {
    const { server } = await extension();
    const editor = await open('secrets.yaml');
    await eventually('the server runs', () => server.running);
    const answer = await server.running?.sendRequest<PreviewAnswer>('llsd/preview', {
      textDocument: { uri: server.name(editor.document.uri) }, position: { line: 0, character: 0 } });
    assert.deepEqual(answer?.env.map(({ name, secret, key }) => ({ name, secret, key })),
      [{ name: 'LLSD_OPENAI_API_KEY', secret: 'credentials', key: 'api-key' }]);
  }],
  ['copies a kubectl command with the Secrets', async () => {
    await open('secrets.yaml');
    await vscode.commands.executeCommand('llsd.copyKubectl');
    assert.equal(await vscode.env.clipboard.readText(), [
      'kubectl create secret generic credentials --namespace models --from-literal=api-key=VALUE',
      'kubectl apply --namespace models --filename secrets.yaml',
    ].join('\n'));
  }],
  ['quotes what a shell would take apart', () => {
    assert.equal(quoted('plain/file-1.yaml'), 'plain/file-1.yaml');
    assert.equal(quoted("it's $HOME"), String.raw`'it'\''s $HOME'`);
    return Promise.resolve();
  }],
  ['compares with the base config', async () => {
    await compared('secrets.yaml', 'llsd.previewDiffBase', (left, right) =>
      left.startsWith('version: 2\n') && !left.includes('LLSD_OPENAI_API_KEY') && right.includes('LLSD_OPENAI_API_KEY'));
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  }],
  ['compares with the saved file', async () => {
    const editor = await open('secrets.yaml');
    await replace(editor, 'provider: openai', 'id: mine\n        provider: openai');
    await compared('secrets.yaml', 'llsd.previewDiffSaved', (left, right) =>
      left.includes('LLSD_OPENAI_API_KEY') && right.includes('LLSD_MINE_API_KEY'));
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    // Not by reverting: code-server saves by itself after a second, and then there is nothing to go back to.
    await replace(await open('secrets.yaml'), 'id: mine\n        provider: openai', 'provider: openai');
  }],
  ['compares with what the cluster runs, once it may ask it', async () => {
    const cluster = vscode.workspace.getConfiguration('llsd.cluster');
    await cluster.update('enabled', true, vscode.ConfigurationTarget.Global);
    try {
      // Until the setting has reached the server, it says that it may not.
      await compared('secrets.yaml', 'llsd.previewDiffCluster', (left, right) =>
        left === 'version: 2\nimage_name: what-runs-now\n' && right.includes('LLSD_OPENAI_API_KEY'));
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      const editor = await open('secrets.yaml');
      await eventually('the missing Secret', () =>
        vscode.languages.getDiagnostics(editor.document.uri).some(({ message }) => message.startsWith('Secret "credentials" not found')));
    } finally {
      await cluster.update('enabled', undefined, vscode.ConfigurationTarget.Global);
    }
  }],
  ['shows lenses whose commands exist', async () => {
    const editor = await open('legacy.yaml');
    const lenses = await eventually('code lenses', async () => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider', editor.document.uri, 50);
      return found.length > 0 ? found : undefined;
    });
    const known = new Set(await vscode.commands.getCommands(true));
    for (const { command } of lenses) {
      assert.ok(command !== undefined && (command.command === '' || known.has(command.command)), command?.command);
    }
  }],
  ['renames a provider id and what refers to it', async () => {
    const editor = await open('renamed.yaml');
    const at = positionOf(editor.document, 'id: large', 5);
    const edit = await eventually('the edit', async () => vscode.commands.executeCommand<vscode.WorkspaceEdit>(
      'vscode.executeDocumentRenameProvider', editor.document.uri, at, 'big'));
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.match(editor.document.getText(), /id: big\n/);
    assert.match(editor.document.getText(), /provider: big\n/);
    assert.doesNotMatch(editor.document.getText(), /large\n/);
  }],
  ['fixes all that leaves nothing to decide', async () => {
    const editor = await open('broken.yaml');
    await eventually('diagnostics', () => ours(editor.document.uri)[0]);
    await vscode.commands.executeCommand('llsd.fixAll');
    await eventually('the text is mended', () => (editor.document.getText().includes('- name: llama # the small one\n') ? true : undefined));
  }],
  ['takes up a changed setting at once', async () => {
    const editor = await open('placeholder.yaml');
    await eventually('the finding', () => ours(editor.document.uri)[0]);
    const settings = vscode.workspace.getConfiguration('llsd');
    await settings.update('severity', { 'llsd::value::placeholder': 'off' }, vscode.ConfigurationTarget.Workspace);
    await eventually('the finding is off', () => (ours(editor.document.uri).length === 0 ? true : undefined));
    await settings.update('severity', undefined, vscode.ConfigurationTarget.Workspace);
    await eventually('the finding is back', () => ours(editor.document.uri)[0]);
  }],
  ['opens a resource from every template without a finding', async () => {
    for (const { label, body } of TEMPLATES) {
      const document = await vscode.workspace.openTextDocument({ language: 'yaml' });
      const editor = await vscode.window.showTextDocument(document);
      await editor.insertSnippet(new vscode.SnippetString(body.join('\n')));
      await eventually(`${label} is previewed`, async () => {
        const { server } = await extension();
        const answer = await server.running?.sendRequest<PreviewAnswer | null>('llsd/preview', {
          textDocument: { uri: server.name(document.uri) }, position: { line: 0, character: 0 } });
        return answer === null ? undefined : answer;
      });
      // A hint tells what depends on the cluster, which no template can know.
      const found = ours(document.uri).filter(({ severity }) => severity !== vscode.DiagnosticSeverity.Hint);
      assert.deepEqual(found.map(({ message }) => message), [], label);
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
  }],
  ['tells the version of the resource or config at the cursor, and what tells it', async () => {
    const { status } = await extension();
    const at = async (file: string, text: string, version: RegExp, reason: RegExp): Promise<void> => {
      const editor = await open(file);
      const position = positionOf(editor.document, text);
      editor.selection = new vscode.Selection(position, position);
      const fits = (): true | undefined => (version.test(status.shown.text) && reason.test(status.shown.tooltip) ? true : undefined);
      await eventually(`the version at "${text}"`, fits).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(status.shown)}`);
      });
    };
    await at('mounted.yaml', 'old', /llama-stack 0\.5\.4$/, /image example\.com\/server:0\.5\.4/);
    await at('mounted.yaml', 'provider_type', /llama-stack 0\.5\.4$/, /image example\.com\/server:0\.5\.4 of resource "old"/);
    await at('mounted.yaml', 'named', /llama-stack \d/, /distribution starter/);
    await at('mounted.yaml', 'successor', /ogx 1\.2\.5$/, /image example\.com\/ogx:1\.2\.5/);
  }],
  ['shows what a migration of a config would make of it, and changes nothing', async () => {
    const editor = await open('mounted.yaml');
    const text = editor.document.getText();
    const at = positionOf(editor.document, 'provider_type');
    await eventually('both sides', async () => {
      await vscode.commands.executeCommand(
        'llsd.previewMigration', editor.document.uri, at, 'Migrate the config to llama-stack 0.7.3');
      return comparisons().find(({ left, right }) =>
        left === text && right.includes('distro_name: demo') && !right.includes('image_name'));
    });
    assert.equal(editor.document.getText(), text);
  }],
  ['looks into here-documents of shell scripts', async () => {
    const editor = await open('apply.sh');
    const found = await eventually('a diagnostic', () => ours(editor.document.uri)[0]);
    assert.equal(editor.document.getText(found.range), 'prot');
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider', editor.document.uri, positionOf(editor.document, 'distribution'));
    assert.ok(hovers.length > 0, 'a hover');
    const offers = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider', editor.document.uri, positionOf(editor.document, 'prot: 1'));
    assert.ok(offers.items.some(({ label }) => (typeof label === 'string' ? label : label.label) === 'port'), 'port is offered');
  }],
  ['looks into Markdown where the setting says so', async () => {
    const editor = await open('page.md');
    const settings = vscode.workspace.getConfiguration();
    const { server } = await extension();
    assert.deepEqual(ours(editor.document.uri), []);
    const before = server.running;
    await settings.update('llsd.markdown.enabled', true, vscode.ConfigurationTarget.Global);
    try {
      await eventually('another server runs', () => (server.running !== undefined && server.running !== before ? true : undefined));
      const found = await eventually('a diagnostic', () => ours(editor.document.uri)[0]);
      assert.equal(editor.document.getText(found.range), 'prot');
    } finally {
      const enabled = server.running;
      await settings.update('llsd.markdown.enabled', undefined, vscode.ConfigurationTarget.Global);
      await eventually('another server runs', () => (server.running !== undefined && server.running !== enabled ? true : undefined));
    }
    await eventually('nothing is said any more', () => (ours(editor.document.uri).length === 0 ? true : undefined));
  }],
  ['registers every command that the manifest announces', async () => {
    const found = vscode.extensions.getExtension('llamastack.llsd');
    const { contributes } = found?.packageJSON as { contributes: { commands: { command: string }[] } };
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(contributes.commands.map(({ command }) => command).filter((command) => !known.has(command)), []);
  }],
  ['offers the schema only where no server runs', async () => {
    const { server } = await extension();
    const editor = await open('fresh.yaml');
    assert.equal(schemaFor(server, editor.document.uri.toString()), undefined);
    assert.equal(schemaFor({ running: undefined }, editor.document.uri.toString()), 'llsd-schema://schema/v1alpha2');
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
