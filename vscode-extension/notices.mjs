// The licences of everything that the package carries: npm packages in the bundle, crates in the server's binary.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense)([-._].*)?$/i;

/** The text of THIRD-PARTY-NOTICES.txt. Fails where a part states no licence. */
export function notices(root) {
  const parts = [...crates(path.join(root, '..')), ...packages(root)];
  const bodies = parts.map(({ name, version, licence, folder }) => {
    if (!licence) throw new Error(`${name} ${version} states no licence`);
    const texts = fs.readdirSync(folder).filter((file) => LICENCE_FILE.test(file)).sort()
      .map((file) => path.join(folder, file)).filter((file) => fs.statSync(file).isFile())
      .map((file) => fs.readFileSync(file, 'utf8').trim());
    return [`${name} ${version} (${licence})`, ...texts].join('\n\n');
  });
  return `${bodies.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Crates that end up in the binary: normal dependencies of `llsd`, and theirs. Cargo fetches those that are not there yet. */
function crates(workspace) {
  const metadata = JSON.parse(execFileSync('cargo', ['metadata', '--format-version=1', '--locked',
    '--filter-platform', 'x86_64-unknown-linux-gnu'], { cwd: workspace, maxBuffer: 1 << 28 }));
  const byId = new Map(metadata.packages.map((each) => [each.id, each]));
  const nodes = new Map(metadata.resolve.nodes.map((each) => [each.id, each]));
  const open = metadata.packages.filter((each) => each.name === 'llsd').map((each) => each.id);
  const seen = new Set(open);
  while (open.length > 0) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(open.pop()).deps) {
      if (kinds.some(({ kind }) => kind === null) && !seen.has(pkg)) {
        seen.add(pkg);
        open.push(pkg);
      }
    }
  }
  return [...seen].map((id) => byId.get(id)).filter((each) => each.source !== null)
    .map((each) => ({ name: each.name, version: each.version, licence: each.license ?? each.license_file,
      folder: path.dirname(each.manifest_path) }))
    .sort((left, right) => left.name.localeCompare(right.name));
}

/** npm packages that are not for development alone. */
function packages(root) {
  const { packages: locked } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(locked).filter(([place, each]) => place !== '' && each.dev !== true && each.optional !== true)
    .map(([place]) => path.join(root, place))
    .map((folder) => ({ folder, ...JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) }))
    .map(({ folder, name, version, license }) => ({ folder, name, version, licence: license }));
}
