// The engine as the page has it says what `llsd` says on the command line.
// usage: node --test test/engine.test.mjs     (after build.sh and `cargo build`)
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { load } from '../page/engine.mjs';

const root = path.join(import.meta.dirname, '../..');
const built = process.env.CARGO_TARGET_DIR ?? path.join(root, 'target');
const llsd = process.env.LLSD_BIN ?? path.join(built, 'debug/llsd');
const bytes = fs.readFileSync(path.join(built, 'wasm32-unknown-unknown/wasm/llsd_playground.wasm'));
const module = await WebAssembly.compile(bytes);
const engine = await load(module);

function ask(question) {
  const { ok, error } = JSON.parse(engine(JSON.stringify(question)));
  assert.equal(error, undefined);
  return ok;
}

function onCommandLine(args, text) {
  const { stdout, status, error } = spawnSync(llsd, args, { input: text, encoding: 'utf8' });
  assert.ok(!error && status !== 2, `${error ?? stdout}`);
  return stdout;
}

const place = (text, at) => {
  const before = text.slice(0, at).split('\n');
  return `${before.length}:${Array.from(before.at(-1)).length + 1}`;
};

const folder = path.join(root, 'samples');
const samples = fs.readdirSync(folder).filter((file) => file.endsWith('.yaml')).map((file) => [file, fs.readFileSync(path.join(folder, file), 'utf8')]);
assert.ok(samples.length > 0);

/** A sample, and the same with damage of several kinds: misspelt, cut off, with a field too many. */
function damaged([name, text]) {
  return [
    [name, text], [`${name}, cut off`, text.slice(0, text.length * 2 / 3)],
    [`${name}, misspelt`, text.replaceAll('provider:', 'provder:').replace('spec:', 'spec:\n  "größe 😀": 1')],
    [`${name}, other types`, text.replaceAll(/name: (\w)/g, 'name: [$1')],
  ];
}

for (const [name, text] of samples.flatMap(damaged)) {
  test(`findings and what is not checked: ${name}`, () => {
    const { diagnostics, unchecked } = ask({ ask: 'check', text });
    const expected = JSON.parse(onCommandLine(['check', '--format', 'json', '--show-unchecked', '-'], text));
    const here = (one) => `${place(text, one.from)}-${place(text, one.to)} ${one.severity} ${one.code} ${one.message}`;
    const there = (one) => `${one.start.line}:${one.start.column}-${one.end.line}:${one.end.column} ${one.severity} ${one.rule} ${one.message}`;
    const severities = { information: 'info' };
    const findings = expected.findings.map((one) => ({ ...one, severity: severities[one.severity] ?? one.severity }));
    assert.deepEqual(diagnostics.map(here).sort(), findings.map(there).sort());
    const open = (rule, at, reason) => `${at} ${rule} ${reason}`;
    assert.deepEqual(unchecked.map((one) => open(one.rule, place(text, one.from), one.reason)).sort(),
      expected.unchecked.map((one) => open(one.rule ?? null, `${one.start.line}:${one.start.column}`, one.reason)).sort());
  });
}

for (const [name, text] of samples) {
  test(`the config: ${name}`, () => {
    const config = ask({ ask: 'preview', text, at: text.length });
    assert.equal(config.generated ? config.text : '', onCommandLine(['render', '-'], text));
  });
  test(`migrated to ogx: ${name}`, () => {
    const { text: migrated } = ask({ ask: 'migrate', text, to: 'ogx@1.5.0' });
    assert.equal(migrated, onCommandLine(['migrate', '--to', 'ogx@1.5.0', '-'], text));
  });
}

test('a sample of v1alpha1 is migrated as on the command line', () => {
  const old = samples.filter(([, text]) => text.includes('v1alpha1'));
  assert.ok(old.length > 0);
  for (const [, text] of old) {
    assert.equal(ask({ ask: 'migrate', text, to: 'v1alpha2' }).text, onCommandLine(['migrate', '-'], text));
  }
});

test('the module asks nothing of the browser, and stays small', () => {
  assert.deepEqual(WebAssembly.Module.imports(module), []);
});
