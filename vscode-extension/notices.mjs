// The licences of everything that the package carries: npm packages in the bundle, crates in the server's binary.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense)([-._].*)?$/i;

/** The text of THIRD-PARTY-NOTICES.txt. Fails where a part states no licence. `crate`: of this repository, what is built. */
export function notices(root, crate = 'llsd', platform = 'x86_64-unknown-linux-gnu') {
  const parts = [...crates(path.join(root, '..'), crate, platform), ...packages(root)];
  const bodies = parts.map(({ name, version, licence, folder }) => {
    if (!licence) throw new Error(`${name} ${version} states no licence`);
    const texts = fs.readdirSync(folder).filter((file) => LICENCE_FILE.test(file)).sort()
      .map((file) => path.join(folder, file)).filter((file) => fs.statSync(file).isFile())
      .map((file) => fs.readFileSync(file, 'utf8').trim());
    return [`${name} ${version} (${licence})`, ...texts].join('\n\n');
  });
  return `${bodies.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Crates that end up in a crate that is built: its normal dependencies, and theirs. Cargo fetches those that are not there yet. */
function crates(workspace, crate, platform) {
  const cargo = (...args) => execFileSync('cargo', [...args, '--locked'], { cwd: workspace, maxBuffer: 1 << 28, encoding: 'utf8' });
  const { packages: all } = JSON.parse(cargo('metadata', '--format-version=1', '--filter-platform', platform));
  const tree = cargo('tree', '--package', crate, '--target', platform, '--edges', 'normal', '--prefix', 'none', '--format', '{p}');
  const built = new Set(tree.split('\n').map((line) => line.split(' ').slice(0, 2).join(' ')));
  return all.filter((each) => each.source !== null && built.has(`${each.name} v${each.version}`))
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
