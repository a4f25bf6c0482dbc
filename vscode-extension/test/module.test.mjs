// The server as a module says what it says as a program, word for word.
// usage: node --test test/module.test.mjs     (after `cargo build` and `engine/build.sh dev`; or with LLSD_BIN, LLSD_MODULE)
import { build } from 'esbuild';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { PATIENCE } from './patience.mjs';

const root = path.join(import.meta.dirname, '../..');
const built = process.env.CARGO_TARGET_DIR ?? path.join(root, 'target');
const program = spawn(process.env.LLSD_BIN ?? path.join(built, 'debug/llsd'), ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
after(() => program.kill());
const { outputFiles: [script] } = await build({ entryPoints: [path.join(import.meta.dirname, '../src/web/module.ts')], bundle: true,
  platform: 'browser', format: 'esm', write: false });
const { ServerModule } = await import(`data:text/javascript;base64,${Buffer.from(script.contents).toString('base64')}`);
const module = await ServerModule.load(fs.readFileSync(process.env.LLSD_MODULE ?? path.join(built, 'wasm32-wasip1/debug/llsd_web.wasm')));

/** What the program has sent and nobody has taken yet. */
const sent = [];
let arrived = () => {};
let rest = Buffer.alloc(0);
program.stdout.on('data', (piece) => {
  rest = Buffer.concat([rest, piece]);
  for (;;) {
    const head = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString('latin1', 0, 40));
    const end = head ? head[0].length + Number(head[1]) : Infinity;
    if (rest.length < end) break;
    sent.push(JSON.parse(rest.toString('utf8', head[0].length, end)));
    rest = rest.subarray(end);
  }
  arrived();
});

/** Sends the same to both, and compares the message that `belongs` to it. */
async function both(message, belongs) {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  program.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  const here = module.receive(JSON.parse(text)).filter(belongs).at(-1);
  assert.ok(here !== undefined, `the module does not answer ${message.method}`);
  const late = setTimeout(() => { throw new Error(`the program does not answer ${message.method}`); }, PATIENCE);
  while (!sent.some(belongs)) await new Promise((done) => { arrived = done; });
  clearTimeout(late);
  const there = sent.splice(sent.findIndex(belongs), 1)[0];
  assert.deepEqual(here, there, message.method);
  return here;
}

let id = 0;
function ask(method, params) {
  id += 1;
  const number = id;
  return both({ id: number, method, params }, (one) => one.id === number && one.method === undefined);
}

const textDocument = { publishDiagnostics: { relatedInformation: true }, codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } } };
test('both can do the same', () => ask('initialize', { processId: null, rootUri: null, capabilities: { textDocument } }));

const folder = path.join(root, 'samples');
const samples = fs.readdirSync(folder).filter((file) => file.endsWith('.yaml')).map((file) => [file, fs.readFileSync(path.join(folder, file), 'utf8')]);
assert.ok(samples.length > 0);

/** A sample, cut off, and with a field that is unknown and names that are misspelt. */
function damaged([name, text]) {
  return [[name, text], [`${name}, cut off`, text.slice(0, text.length * 2 / 3)],
    [`${name}, misspelt`, text.replaceAll('provider:', 'provder:').replace('spec:', 'spec:\n  "größe 😀": 1')]];
}

for (const [name, text] of samples.flatMap(damaged)) {
  test(name, async () => {
    const uri = `file:///samples/${encodeURIComponent(name)}`;
    const textDocument = { uri };
    const lines = text.split('\n');
    const range = { start: { line: 0, character: 0 }, end: { line: lines.length, character: 0 } };
    const position = { line: lines.length >> 1, character: lines[lines.length >> 1].search(/\S|$/) };
    await both({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } },
      (one) => one.method === 'textDocument/publishDiagnostics' && one.params.uri === uri && one.params.version === 1);
    await ask('textDocument/codeAction', { textDocument, range, context: { diagnostics: [] } });
    await ask('textDocument/completion', { textDocument, position });
    await ask('textDocument/hover', { textDocument, position });
    await ask('textDocument/documentSymbol', { textDocument });
    await ask('textDocument/foldingRange', { textDocument });
    await ask('textDocument/semanticTokens/full', { textDocument });
    await ask('textDocument/inlayHint', { textDocument, range });
    await ask('textDocument/formatting', { textDocument, options: { tabSize: 4, insertSpaces: true } });
    await ask('llsd/preview', { textDocument, position });
  });
}
