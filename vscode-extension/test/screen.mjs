// What a person sees: each step waits for it on the screen and keeps a picture in test-artefacts/. With --pictures those
// that the README and the walkthrough show are written to images/ too.
import fs from 'node:fs';
import path from 'node:path';
import { startEditor } from './editor.mjs';
import { PATIENCE } from './patience.mjs';

/** Other themes: what to type into the theme picker, and the class that the workbench then has. */
const THEMES = [['Light Modern', 'vs'], ['Dark High Contrast', 'hc-black'], ['Light High Contrast', 'hc-light']];

export async function screenTests({ cache, settings, root, pictures }) {
  const artefacts = path.join(root, 'test-artefacts');
  fs.mkdirSync(artefacts, { recursive: true });
  const editor = await startEditor({ cache, settings, vsix: path.join(root, 'out/llsd-linux-x64.vsix') });
  const { page } = editor;
  let passed = 0;
  let failed = 0;
  const step = async (name, run, image) => {
    const file = `${name.replaceAll(/[^a-z0-9]+/g, '-')}.png`;
    try {
      await run();
      const picture = await page.screenshot({ path: path.join(artefacts, file) });
      if (pictures && image) fs.writeFileSync(path.join(root, 'images', image), picture);
      passed += 1;
      console.log(`ok     screen: ${name}`);
    } catch (error) {
      failed += 1;
      // What follows has probably the same cause, and must not cost minutes each.
      page.setDefaultTimeout(15_000);
      await page.screenshot({ path: path.join(artefacts, `failed-${file}`) });
      console.log(`FAILED screen: ${name}\n${error.stack}`);
    }
  };
  /** Acts until the effect is there: what the editor is asked before it is ready for it has none. */
  const until = async (act, effect) => {
    for (const end = Date.now() + PATIENCE; ;) {
      await act();
      try {
        await effect({ timeout: 5_000 });
        return;
      } catch (error) {
        if (Date.now() > end) throw error;
        await page.keyboard.press('Escape');
      }
    }
  };
  const line = (text) => page.locator('.view-line', { hasText: text }).locator('span span').last();
  const run = async (title) => {
    await page.keyboard.press('F1');
    await page.waitForSelector('.quick-input-widget input');
    await page.keyboard.type(title);
    await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();
  };
  const openFile = async (name) => {
    await page.keyboard.press('Control+p');
    await page.waitForSelector('.quick-input-widget input');
    await page.keyboard.type(name);
    await page.waitForSelector(`.quick-input-list .monaco-list-row[data-index="0"][aria-label^="${name}"]`);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`.tab.active[data-resource-name="${name}"]`);
  };
  try {
    fs.cpSync(path.join(root, 'test/workspace'), editor.workspace, { recursive: true });
    await editor.open([['openFile', `vscode-remote://${editor.host}${editor.workspace}/fresh.yaml`]]);
    await page.waitForSelector('.tab[data-resource-name="fresh.yaml"]');
    await step('the package holds what it should, and the server can be run', () => checkInstalled(editor.extensions));
    await step('a squiggle under the mistyped provider', async () => {
      await page.waitForSelector('.squiggly-error');
    });
    await step('the status bar tells findings and version', async () => {
      await page.waitForSelector(
        '.statusbar-item[aria-label*="llsd: 1 findings, 1 of them errors · llama-stack 0.4.7"]');
    });
    await step('code lenses stand above the resource', async () => {
      await page.waitForSelector('.codelens-decoration a');
    });
    await step('hover explains the mistake', async () => {
      await until(async () => {
        await page.mouse.move(0, 0);
        await line('provider: vlm').hover();
      }, (limit) => page.waitForFunction(
        () => document.querySelector('.monaco-hover:not(.hidden)')?.textContent?.includes('vllm'), null, limit));
    }, 'mistake.png');
    await step('the light bulb mends it', async () => {
      await line('provider: vlm').click();
      await until(() => page.keyboard.press('Control+Period'), (limit) => page.waitForSelector('.action-widget', limit));
      await page.keyboard.press('Enter');
      await page.waitForSelector('.squiggly-error', { state: 'detached' });
    });
    await step('providers are offered', async () => {
      // An inlay hint stands between key and value.
      await line(/provider:.*vllm/).click();
      await page.keyboard.press('End');
      for (let letters = 'vllm'.length; letters > 0; letters -= 1) await page.keyboard.press('Backspace');
      await until(() => page.keyboard.press('Control+Space'), (limit) => page.waitForFunction(
        () => [...document.querySelectorAll('.suggest-widget.visible .monaco-list-row')]
          .some((row) => row.textContent?.includes('vllm')), null, limit));
      await page.waitForTimeout(300); // the list slides in
    }, 'completion.png');
    await step('the offer is taken', async () => {
      await page.keyboard.type('vllm');
      await page.waitForTimeout(300);
      await page.keyboard.press('Escape');
      await page.waitForSelector('.squiggly-error', { state: 'detached' });
    });
    await step('the preview is coloured by origin', async () => {
      await page.locator('.editor-actions [aria-label^="Show the Generated config.yaml"]').first().click();
      await page.waitForSelector('.tab[data-resource-name="config.yaml"]');
      await page.waitForFunction(() => [...document.querySelectorAll('.view-overlays .cdr')]
        .some((overlay) => getComputedStyle(overlay).backgroundColor.startsWith('rgba(46, 160, 67')));
      await line(/provider:.*vllm/).click();
    }, 'preview.png');
    await step('the light bulb migrates an older resource', async () => {
      await openFile('legacy.yaml');
      await page.keyboard.press('Control+Home');
      await until(() => page.keyboard.press('Control+Period'), (limit) =>
        page.locator('.action-widget .monaco-list-row', { hasText: 'Migrate' }).first().click(limit));
      await page.waitForFunction(() => [...document.querySelectorAll('.view-line')]
        .some((text) => text.textContent?.replaceAll('\u00a0', ' ').includes('llamastack.io/v1alpha2')));
      // the editor shows the lenses of the old text until it asks for those of the new one
      await page.waitForFunction(() => {
        const lenses = [...document.querySelectorAll('.codelens-decoration')].map((lens) => lens.textContent ?? '');
        return lenses.length > 0 && !lenses.some((text) => text.includes('Migrate'));
      });
    }, 'migration.png');
    await step('the config is compared with the base', async () => {
      await openFile('secrets.yaml');
      await run('Compare the Generated config.yaml With the Base');
      await page.waitForSelector('.diff-editor, .monaco-diff-editor');
      await page.waitForFunction(() => document.querySelectorAll('.monaco-diff-editor .line-insert').length > 0);
    }, 'diff.png');
    await step('what can be clicked has a name', async () => {
      await openFile('fresh.yaml');
      await page.waitForSelector('.statusbar-item[aria-label*="llsd:"]');
      const nameless = await page.evaluate(() => [...document.querySelectorAll(
        '.editor-actions a.action-label, .statusbar-item[id*="llsd"] a, .codelens-decoration a')]
        .filter((node) => !(node.getAttribute('aria-label') ?? node.textContent ?? '').trim()).length);
      if (nameless > 0) throw new Error(`${nameless} without a name`);
    });
    for (const [theme, shown] of THEMES) {
      await step(`the preview in ${theme.toLowerCase()}`, async () => {
        await page.keyboard.press('Control+k');
        await page.keyboard.press('Control+t');
        await page.waitForSelector('.quick-input-widget input');
        await page.keyboard.type(theme);
        await page.waitForSelector(`.quick-input-list .monaco-list-row.focused[aria-label*="${theme}"]`);
        await page.keyboard.press('Enter');
        await page.waitForSelector(`.monaco-workbench.${shown}`);
        await page.waitForSelector('.quick-input-widget', { state: 'hidden' });
      });
    }
    await step('the walkthrough has its pictures', async () => {
      await run('Welcome: Open Walkthrough...');
      await page.keyboard.type('first resource for llama-stack');
      await page.locator('.quick-input-list .monaco-list-row', { hasText: 'first resource for llama-stack' }).first().click();
      await page.waitForFunction(() => document.querySelector('.gettingStartedContainer')?.textContent
        ?.includes('Write your first resource'));
    });
  } finally {
    await editor.stop();
  }
  return { passed, failed };
}

/** The installed package: the server with its exec bit, schemas and notices; no sources, maps or tests. */
function checkInstalled(extensions) {
  const folder = fs.readdirSync(extensions).find((name) => name.startsWith('llamastack.llsd-'));
  if (folder === undefined) throw new Error('the extension is not installed');
  const installed = path.join(extensions, folder);
  fs.accessSync(path.join(installed, 'server/llsd'), fs.constants.X_OK);
  const files = fs.readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => path.relative(installed, path.join(entry.parentPath, entry.name)));
  for (const wanted of ['schemas/v1alpha2.json', 'media/icon.png', 'out/extension.js']) {
    if (!files.includes(wanted)) throw new Error(`${wanted} is missing among ${files.join(', ')}`);
  }
  if (!files.some((name) => /third-party-notices/i.test(name))) throw new Error('the licence notices are missing');
  const strangers = files.filter((name) => /\.map$|\.ts$|\.wasm$|^(src|test|node_modules)\//.test(name));
  if (strangers.length > 0) throw new Error(`not for users: ${strangers.join(', ')}`);
  const readme = fs.readFileSync(path.join(installed, files.find((name) => /^readme\.md$/i.test(name))), 'utf8');
  for (const [, picture] of readme.matchAll(/!\[[^\]]+\]\((images\/[^)]+)\)/g)) {
    if (!files.includes(picture)) throw new Error(`the README shows ${picture}, which the package lacks`);
  }
}
