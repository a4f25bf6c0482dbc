// Runs the tests in a real VS Code: first inside the extension host, then through the screen.
// usage: node test/run.mjs [--binary LLSD] [--engine WASM] [--pictures]     (after `npm run build` and `npm run build:test`)
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from './cluster.mjs';
import { startEditor } from './editor.mjs';
import { PATIENCE } from './patience.mjs';
import { screenTests } from './screen.mjs';
import { stage } from '../web-package.mjs';

const root = path.resolve(import.meta.dirname, '..');
const built = process.env.CARGO_TARGET_DIR ?? path.join(root, '../target');
const { values } = parseArgs({ options: { binary: { type: 'string' }, engine: { type: 'string' }, pictures: { type: 'boolean', default: false } } });
const binary = path.resolve(values.binary ?? path.join(built, 'debug/llsd'));
if (!fs.existsSync(binary)) {
  console.error(`${binary} is missing: build it with \`cargo build\` first`);
  process.exit(2);
}
const engine = path.resolve(values.engine ?? path.join(built, 'wasm32-wasip1/debug/llsd_web.wasm'));
if (!fs.existsSync(engine)) {
  console.error(`${engine} is missing: build it with \`engine/build.sh dev\` first`);
  process.exit(2);
}
const cache = execFileSync(path.join(root, 'test/setup.sh'), { encoding: 'utf8' }).trim();
const settings = { 'llsd.server.path': binary, 'window.autoDetectColorScheme': false, 'editor.minimap.enabled': false,
  'workbench.startupEditor': 'none', 'chat.disableAIFeatures': true, 'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'editor.quickSuggestions': { strings: true, other: true, comments: false } };

/** Runs tests inside an extension host: that of Node.js, or, with `kind` "web", that of a browser. */
async function inExtensionHost({ extension, tests, kind, more = {} }) {
  const editor = await startEditor({ cache, settings: { ...settings, ...more } });
  try {
    let exit;
    const finished = new Promise((done) => { exit = done; });
    const log = []; // of the extension host: only of interest when a test failed
    await editor.page.exposeFunction('codeAutomationLog', (_kind, args) => { log.push((args ?? []).join(' ')); });
    await editor.page.exposeFunction('codeAutomationExit', (code) => { exit(code); });
    fs.cpSync(path.join(root, 'test/workspace'), editor.workspace, { recursive: true });
    const remote = (file) => `vscode-remote://${editor.host}${file}`;
    await editor.open([['extensionDevelopmentPath', remote(extension)], ...(kind ? [['extensionDevelopmentKind', kind]] : []),
      ['extensionTestsPath', remote(tests)], ['skipWelcome', 'true']]);
    // Each wait of the tests has a limit; this one is for an extension host that is gone.
    const late = new Promise((done) => setTimeout(() => done('timed out'), 4 * PATIENCE).unref());
    const code = await Promise.race([finished, late]);
    const results = path.join(editor.workspace, 'results.json');
    const { passed, failed } = fs.existsSync(results) ? JSON.parse(fs.readFileSync(results, 'utf8')) : { passed: [], failed: [] };
    const where = kind ? `${kind}: ` : '';
    for (const name of passed) console.log(`ok     ${where}${name}`);
    for (const { name, error } of failed) console.log(`FAILED ${where}${name}\n${error}`);
    if (code !== 0) console.log(log.join('\n'));
    if (code !== 0 && failed.length === 0) failed.push({ name: 'extension host', error: `ended with ${code}` });
    return { passed: passed.length, failed: failed.length };
  } finally {
    await editor.stop();
  }
}

async function onDesktop() {
  const cluster = await startCluster(root);
  try {
    const { kubeconfig, kubectl } = cluster;
    const more = { 'llsd.cluster.kubeconfig': kubeconfig, 'llsd.cluster.kubectl': kubectl };
    return await inExtensionHost({ extension: root, tests: path.join(root, 'out/test/index.js'), more });
  } finally {
    await cluster.stop();
  }
}

/** The package for browsers, in the extension host that those have. Its manifest has no entry for another one. */
function inBrowser() {
  const extension = path.join(root, 'out/web-package');
  stage(root, engine, extension);
  // Tests run in the extension host of the extension in whose folder they are.
  const tests = path.join(extension, 'out/test.js');
  fs.copyFileSync(path.join(root, 'out/test/web.js'), tests);
  return inExtensionHost({ extension, tests, kind: 'web' });
}

execFileSync('node', ['package.mjs', '--binary', binary], { cwd: root, stdio: 'inherit' });
const all = [await onDesktop(), await inBrowser(), await screenTests({ cache, settings, root, pictures: values.pictures })];
const passed = all.reduce((sum, one) => sum + one.passed, 0);
const failed = all.reduce((sum, one) => sum + one.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
