// What a person sees: each step waits for it on the screen and keeps a picture in test-artefacts/.
import fs from 'node:fs';
import path from 'node:path';
import { startEditor } from './editor.mjs';

/** Other themes: what to type into the theme picker, and the class that the workbench then has. */
const THEMES = [['Light Modern', 'vs'], ['Dark High Contrast', 'hc-black']];

export async function screenTests({ cache, settings, root }) {
  const pictures = path.join(root, 'test-artefacts');
  fs.mkdirSync(pictures, { recursive: true });
  const editor = await startEditor({
    cache, settings, vsix: path.join(root, 'out/llsd-linux-x64.vsix') });
  const { page } = editor;
  let passed = 0;
  let failed = 0;
  const step = async (name, run) => {
    try {
      await run();
      await page.screenshot({ path: path.join(pictures, `${name.replaceAll(/[^a-z]+/g, '-')}.png`) });
      passed += 1;
      console.log(`ok     screen: ${name}`);
    } catch (error) {
      failed += 1;
      await page.screenshot({ path: path.join(pictures, `failed-${name.replaceAll(/[^a-z]+/g, '-')}.png`) });
      console.log(`FAILED screen: ${name}\n${error.stack}`);
    }
  };
  try {
    fs.copyFileSync(path.join(root, 'test/workspace/fresh.yaml'), path.join(editor.workspace, 'fresh.yaml'));
    fs.copyFileSync(path.join(root, 'test/workspace/legacy.yaml'), path.join(editor.workspace, 'legacy.yaml'));
    await editor.open([['openFile', `vscode-remote://${editor.host}${editor.workspace}/fresh.yaml`]]);
    await page.waitForSelector('.tab[data-resource-name="fresh.yaml"]', { timeout: 60_000 });
    await step('a squiggle under the mistyped provider', async () => {
      await page.waitForSelector('.squiggly-error', { timeout: 60_000 });
    });
    await step('the status bar tells the findings', async () => {
      await page.waitForSelector('.statusbar-item[aria-label*="LlamaStackDistribution: 1 findings"]', { timeout: 15_000 });
    });
    await step('hover explains the mistake', async () => {
      await page.locator('.view-line', { hasText: 'provider: vlm' }).locator('span span').last().hover();
      await page.waitForFunction(() => document.querySelector('.monaco-hover:not(.hidden)')?.textContent?.includes('vllm'),
        null, { timeout: 15_000 });
    });
    await step('the light bulb mends it', async () => {
      await page.locator('.view-line', { hasText: 'provider: vlm' }).locator('span span').last().click();
      await page.keyboard.press('Control+Period');
      await page.waitForSelector('.action-widget', { timeout: 15_000 });
      await page.keyboard.press('Enter');
      await page.waitForSelector('.squiggly-error', { state: 'detached', timeout: 15_000 });
    });
    await step('the preview is coloured by origin', async () => {
      await page.locator('.editor-actions [aria-label^="Show the Generated config.yaml"]').first().click();
      await page.waitForSelector('.tab[data-resource-name="config.yaml"]', { timeout: 15_000 });
      await page.waitForFunction(() => [...document.querySelectorAll('.view-overlays .cdr')]
        .some((overlay) => getComputedStyle(overlay).backgroundColor.startsWith('rgba(46, 160, 67')), null, { timeout: 15_000 });
    });
    for (const [theme, shown] of THEMES) {
      await step(`the preview in ${theme.toLowerCase()}`, async () => {
        await page.keyboard.press('Control+k');
        await page.keyboard.press('Control+t');
        await page.waitForSelector('.quick-input-widget input', { timeout: 15_000 });
        await page.keyboard.type(theme);
        await page.waitForTimeout(500); // the list filters while it is typed
        await page.keyboard.press('Enter');
        await page.waitForSelector(`.monaco-workbench.${shown}`, { timeout: 15_000 });
        await page.waitForSelector('.quick-input-widget', { state: 'hidden', timeout: 15_000 });
      });
    }
  } finally {
    await editor.stop();
  }
  return { passed, failed };
}
