// Packages the extension with the server's binary for one platform.
// usage: node package.mjs [--target linux-x64] [--binary ../target/release/llsd] [--host ../target/release/llsd]
//                         [--out out/llsd-linux-x64.vsix]
// --host is a binary of the same version that runs here; it writes the schemas. By default it is --binary.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { notices } from './notices.mjs';

const root = import.meta.dirname;
const { values } = parseArgs({ options: {
  target: { type: 'string', default: 'linux-x64' },
  binary: { type: 'string', default: '../target/release/llsd' },
  host: { type: 'string' },
  out: { type: 'string' },
} });
const out = values.out ?? `out/llsd-${values.target}.vsix`;
const binary = path.resolve(root, values.binary);
if (!fs.existsSync(binary)) {
  console.error(`${binary} is missing: build it with \`cargo build --release --package llsd\`, or name another with --binary`);
  process.exit(2);
}
const name = values.target.startsWith('win32') ? 'llsd.exe' : 'llsd';
for (const folder of ['server', 'schemas']) {
  fs.rmSync(path.join(root, folder), { recursive: true, force: true });
  fs.mkdirSync(path.join(root, folder));
}
fs.copyFileSync(binary, path.join(root, 'server', name));
fs.chmodSync(path.join(root, 'server', name), 0o755);
for (const version of ['v1alpha1', 'v1alpha2']) {
  const schema = execFileSync(path.resolve(root, values.host ?? binary), ['schema', version]);
  fs.writeFileSync(path.join(root, 'schemas', `${version}.json`), schema);
}
fs.writeFileSync(path.join(root, 'THIRD-PARTY-NOTICES.txt'), notices(root));
execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
execFileSync('npx', ['vsce', 'package', '--target', values.target, '--no-dependencies', '--out', out],
  { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
console.log(`${out}: ${(fs.statSync(path.resolve(root, out)).size / 1e6).toFixed(1)} MB`);
