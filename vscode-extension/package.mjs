// Packages the extension with the server: as a binary for one platform, or, for the target `web`, as a module for browsers.
// usage: node package.mjs [--target linux-x64] [--binary ../target/release/llsd] [--host ../target/release/llsd]
//                         [--out out/llsd-linux-x64.vsix]
// --binary is the module of engine/build.sh for the target `web`. --host is a binary of the same version that runs here; it
// writes the schemas. By default it is --binary; the target `web` needs none.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { notices } from './notices.mjs';
import { stage } from './web-package.mjs';

const root = import.meta.dirname;
const { values } = parseArgs({ options: {
  target: { type: 'string', default: 'linux-x64' },
  binary: { type: 'string' },
  host: { type: 'string' },
  out: { type: 'string' },
} });
const web = values.target === 'web';
const out = path.resolve(root, values.out ?? `out/llsd-${values.target}.vsix`);
const binary = path.resolve(root, values.binary ?? (web ? '../target/wasm32-wasip1/wasm/llsd_web.wasm' : '../target/release/llsd'));
if (!fs.existsSync(binary)) {
  const way = web ? 'engine/build.sh' : 'cargo build --release --package llsd';
  console.error(`${binary} is missing: build it with \`${way}\`, or name another with --binary`);
  process.exit(2);
}
const folder = web ? path.join(root, 'out/web-package') : root;
if (web) {
  stage(root, binary, folder);
} else {
  native();
}
const licences = web ? notices(root, 'llsd-web', 'wasm32-wasip1') : notices(root);
fs.writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), licences);
const vsce = path.join(root, 'node_modules/.bin/vsce');
execFileSync(vsce, ['package', '--target', values.target, '--no-dependencies', '--out', out],
  { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
console.log(`${out}: ${(fs.statSync(out).size / 1e6).toFixed(1)} MB`);

/** Puts the binary, and the schemas that it writes, where the package has them. */
function native() {
  const name = values.target.startsWith('win32') ? 'llsd.exe' : 'llsd';
  for (const inside of ['server', 'schemas']) {
    fs.rmSync(path.join(root, inside), { recursive: true, force: true });
    fs.mkdirSync(path.join(root, inside));
  }
  fs.copyFileSync(binary, path.join(root, 'server', name));
  fs.chmodSync(path.join(root, 'server', name), 0o755);
  for (const version of ['v1alpha1', 'v1alpha2']) {
    const schema = execFileSync(path.resolve(root, values.host ?? binary), ['schema', version]);
    fs.writeFileSync(path.join(root, 'schemas', `${version}.json`), schema);
  }
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}
