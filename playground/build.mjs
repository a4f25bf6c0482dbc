// Puts the page into one file that needs no other: out/index.html. The engine is in it, packed. Beside it the licences of
// everything that is in it.
// usage: node build.mjs [ENGINE.wasm]      (build.sh builds the engine first)
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { notices } from '../vscode-extension/notices.mjs';

const root = import.meta.dirname;
const built = process.env.CARGO_TARGET_DIR ?? path.join(root, '../target');
const engine = process.argv[2] ?? path.join(built, 'wasm32-unknown-unknown/wasm/llsd_playground.wasm');
if (!fs.existsSync(engine)) {
  console.error(`${engine} is missing: playground/build.sh builds it`);
  process.exit(2);
}
const options = { bundle: true, minify: true, format: 'iife', target: 'es2022', write: false, legalComments: 'none', charset: 'utf8' };

async function bundled(entry, plugins = []) {
  const { outputFiles } = await build({ ...options, entryPoints: [path.join(root, 'page', entry)], plugins });
  return outputFiles[0].text;
}

function samples() {
  const folder = path.join(root, '../samples');
  const files = fs.readdirSync(folder).filter((file) => file.endsWith('.yaml')).sort();
  return Object.fromEntries(files.map((file) => [path.basename(file, '.yaml'), fs.readFileSync(path.join(folder, file), 'utf8')]));
}

/** Modules whose default is a value that is made here. */
function made(values) {
  return { name: 'made', setup(build) {
    build.onResolve({ filter: /^llsd:/ }, ({ path }) => ({ path, namespace: 'made' }));
    build.onLoad({ filter: /.*/, namespace: 'made' }, ({ path }) => ({ contents: JSON.stringify(values[path]), loader: 'json' }));
  } };
}

const script = await bundled('main.ts', [made({ 'llsd:samples': samples(), 'llsd:worker': await bundled('worker.ts') })]);
const hash = createHash('sha256').update(script).digest('base64');
// Only this script, and the worker that it makes; nothing can be fetched or sent.
const policy = ["default-src 'none'", `script-src 'sha256-${hash}' 'wasm-unsafe-eval'`, 'worker-src blob:', "style-src 'unsafe-inline'",
  'img-src data:', "base-uri 'none'", "form-action 'none'"].join('; ');
if (/<\/script/i.test(script)) throw new Error('the script would end the element that it stands in');
const parts = {
  policy, script, style: fs.readFileSync(path.join(root, 'page/style.css'), 'utf8'),
  engine: zlib.gzipSync(fs.readFileSync(engine), { level: 9 }).toString('base64'),
};
const page = fs.readFileSync(path.join(root, 'page/index.html'), 'utf8').replace(/@(\w+)@/g, (_, name) => parts[name]);
fs.mkdirSync(path.join(root, 'out'), { recursive: true });
fs.writeFileSync(path.join(root, 'out/index.html'), page);
fs.writeFileSync(path.join(root, 'out/THIRD-PARTY-NOTICES.txt'), notices(root, 'llsd-playground', 'wasm32-unknown-unknown'));
