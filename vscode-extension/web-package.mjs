// Puts together, in a folder, what the extension is in a browser: a manifest of its own, and the server as a module.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Settings about programs, of which a browser has none. */
const ABOUT_PROGRAMS = /^llsd\.(?:server\.|cluster\.|buildOnSave$|inlayHints\.status$)/;

/** The manifest for browsers: of the entries only that one, and what is true there. */
export function manifest(native) {
  const { main: _, extensionKind: __, ...rest } = native;
  const { configuration } = rest.contributes;
  const properties = Object.entries(configuration.properties).filter(([name]) => !ABOUT_PROGRAMS.test(name));
  return {
    ...rest,
    browser: './out/web/extension.js',
    capabilities: { untrustedWorkspaces: { supported: true }, virtualWorkspaces: true },
    contributes: { ...rest.contributes, configuration: { ...configuration, properties: Object.fromEntries(properties) } },
  };
}

/** Makes the folder. `engine`: the module, as engine/build.sh builds it. */
export function stage(root, engine, folder) {
  execFileSync('npm', ['run', '--silent', 'build:web'], { cwd: root, stdio: 'inherit' });
  fs.rmSync(folder, { recursive: true, force: true });
  const put = (from, to = from) => { fs.cpSync(path.resolve(root, from), path.join(folder, to), { recursive: true }); };
  ['README.md', 'CHANGELOG.md', 'LICENSE', 'images', 'media'].forEach((name) => { put(name); });
  ['extension.js', 'worker.js'].forEach((name) => { put(`out/web/${name}`); });
  put(engine, 'out/web/llsd.wasm');
  const native = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(native), null, 2)}\n`);
}
