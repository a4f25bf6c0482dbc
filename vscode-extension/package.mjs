// Packages the extension with the server's binary for one platform.
// usage: node package.mjs [--target linux-x64] [--binary ../target/release/llsd] [--out out/llsd-linux-x64.vsix]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const root = import.meta.dirname;
const { values } = parseArgs({ options: {
  target: { type: 'string', default: 'linux-x64' },
  binary: { type: 'string', default: '../target/release/llsd' },
  out: { type: 'string' },
} });
const out = values.out ?? `out/llsd-${values.target}.vsix`;
const name = values.target.startsWith('win32') ? 'llsd.exe' : 'llsd';
fs.rmSync(path.join(root, 'server'), { recursive: true, force: true });
fs.mkdirSync(path.join(root, 'server'));
fs.copyFileSync(path.resolve(root, values.binary), path.join(root, 'server', name));
fs.chmodSync(path.join(root, 'server', name), 0o755);
execFileSync('npx', ['esbuild', 'src/extension.ts', '--bundle', '--platform=node', '--target=node20', '--external:vscode',
  '--minify', '--legal-comments=external', '--outfile=out/extension.js'], { cwd: root, stdio: 'inherit' });
execFileSync('npx', ['vsce', 'package', '--target', values.target, '--no-dependencies', '--out', out], { cwd: root, stdio: 'inherit' });
console.log(`${out}: ${(fs.statSync(path.join(root, out)).size / 1e6).toFixed(1)} MB`);
