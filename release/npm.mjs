// Makes npm packages of released archives: one for each platform, with the program alone, and `llsd`, which has all of
// them as optional dependencies and starts the one that npm installed.
// usage: node npm.mjs ARCHIVES DIR
//   ARCHIVES  a folder with llsd-VERSION-TARGET.tar.gz and .zip, as archive.sh makes them
//   DIR       where the .tgz files go
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const PLATFORMS = {
  'x86_64-unknown-linux-musl': { os: 'linux', cpu: 'x64' },
  'aarch64-unknown-linux-musl': { os: 'linux', cpu: 'arm64' },
  'x86_64-apple-darwin': { os: 'darwin', cpu: 'x64' },
  'aarch64-apple-darwin': { os: 'darwin', cpu: 'arm64' },
  'x86_64-pc-windows-gnu': { os: 'win32', cpu: 'x64' },
};
const [archives, out] = process.argv.slice(2).map((folder) => path.resolve(folder));
if (!out) {
  console.error('usage: node npm.mjs ARCHIVES DIR');
  process.exit(2);
}
const root = path.join(import.meta.dirname, '..');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'llsd-npm-'));
const common = { license: 'Apache-2.0', repository: { type: 'git', url: 'git+https://github.com/llamastack/llsd.git' } };

function pack(name, description, more, fill) {
  const folder = path.join(work, name.replace('/', '-'));
  fs.mkdirSync(folder, { recursive: true });
  fill(folder);
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify({ name, description, ...common, ...more }, null, 2)}\n`);
  const made = execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, encoding: 'utf8' });
  console.log(path.join(out, made.trim()));
}

try {
  fs.mkdirSync(out, { recursive: true });
  const optionalDependencies = {};
  let version;
  for (const file of fs.readdirSync(archives).sort()) {
    const match = /^llsd-(\d+\.\d+\.\d+[^-]*)-(.+?)\.(tar\.gz|zip)$/.exec(file);
    const platform = match && PLATFORMS[match[2]];
    if (!platform) continue;
    if (version && version !== match[1]) throw new Error(`${archives} has archives of ${version} and ${match[1]}`);
    version = match[1];
    const name = `@llsd/${platform.os}-${platform.cpu}`;
    optionalDependencies[name] = version;
    pack(name, `llsd for ${platform.os} on ${platform.cpu}`, { version, os: [platform.os], cpu: [platform.cpu] }, (folder) => {
      const [program, extract] = match[3] === 'zip' ? ['llsd.exe', ['unzip', '-p']] : ['llsd', ['tar', '-xzOf']];
      const inside = `${file.slice(0, -match[3].length - 1)}/${program}`;
      const bytes = execFileSync(extract[0], [...extract.slice(1), path.join(archives, file), inside], { maxBuffer: 1 << 28 });
      fs.writeFileSync(path.join(folder, program), bytes, { mode: 0o755 });
    });
  }
  if (!version) throw new Error(`${archives} has no archive of llsd`);
  pack('llsd', 'Language server and command line for llama-stack on Kubernetes',
    { version, bin: { llsd: 'llsd.js' }, engines: { node: '>=18' }, optionalDependencies }, (folder) => {
      fs.copyFileSync(path.join(import.meta.dirname, 'npm', 'llsd.js'), path.join(folder, 'llsd.js'));
      fs.copyFileSync(path.join(root, 'README.md'), path.join(folder, 'README.md'));
    });
} finally {
  fs.rmSync(work, { recursive: true, force: true });
}
