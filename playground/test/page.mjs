// What a user does with the page, by keyboard alone; and how it looks: light and dark, wide and narrow.
// usage: node test/page.mjs [--pictures FOLDER]      (after build.sh)
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CONFIG, NARROW, RESOURCE, WIDE, lines, open, says, start } from './browser.mjs';

const { values } = parseArgs({ options: { pictures: { type: 'string' } } });
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await start();

/** Goes on with Tab until an element has the focus: one that cannot be reached so fails. */
async function tabTo(tab, selector) {
  for (let step = 0; step < 60; step++) {
    if (await tab.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
    await tab.keyboard.press('Tab');
  }
  assert.fail(`${selector} is not reached by Tab`);
}

async function keys(tab, ...all) {
  for (const key of all) await tab.keyboard.press(key);
}

/** Chooses by its letters, as one does by keyboard. */
async function choose(tab, selector, letters) {
  await tabTo(tab, selector);
  await tab.keyboard.type(letters);
  await tab.waitForFunction(([selector, letters]) => {
    const list = document.querySelector(selector);
    return list.selectedOptions[0]?.text.startsWith(letters);
  }, [selector, letters]);
}

/** A misspelt field at the end of the text. */
async function misspell(tab) {
  await tabTo(tab, RESOURCE);
  await keys(tab, 'Control+End');
  await tab.keyboard.insertText('  storrage: {}\n');
  await says(tab, '1 error');
}

const focused = (tab) => tab.evaluate(() => document.activeElement.textContent);

const tests = {
  async 'nothing is fetched, nothing can be, and nothing is complained of'() {
    const { tab, requests, complaints, close } = await open(browser);
    await says(tab, '0 errors, 0 warnings');
    const refused = await tab.evaluate(() => fetch('https://example.com/').then(() => false, () => true));
    assert.ok(refused);
    assert.deepEqual(requests.filter((url) => !/^(file|blob|data):/.test(url)), []);
    // What the policy says of that attempt is the one complaint.
    assert.deepEqual(complaints.filter((one) => !one.includes('example.com')), []);
    await close();
  },

  async 'a mistake is found, gone to, mended and undone'() {
    const { tab, close } = await open(browser);
    await misspell(tab);
    await tabTo(tab, '#findings button');
    assert.match(await focused(tab), /line 16.*storage/s);
    await keys(tab, 'Enter', 'Control+.');
    await tab.waitForSelector('dialog[open]');
    assert.match(await focused(tab), /storrage.*storage/);
    await keys(tab, 'Enter');
    await says(tab, '0 errors');
    assert.ok((await lines(tab)).includes('  storage: {}'));
    await keys(tab, 'Control+z');
    await says(tab, '1 error');
    await tabTo(tab, '#fix');
    await keys(tab, 'Enter');
    await says(tab, '0 errors');
    await close();
  },

  async 'while the text gives no config, the last one stays and says so'() {
    const { tab, close } = await open(browser);
    const before = await lines(tab, CONFIG);
    await misspell(tab);
    await tab.waitForSelector('#config.stale');
    assert.deepEqual(await lines(tab, CONFIG), before);
    assert.match(await tab.locator('#origin').textContent(), /storrage/);
    await keys(tab, 'Control+z');
    await tab.waitForFunction(() => !document.querySelector('#config.stale'));
    await close();
  },

  async 'what may be written is offered, explained and taken'() {
    const { tab, close } = await open(browser);
    await tabTo(tab, RESOURCE);
    await keys(tab, 'Control+End');
    await tab.keyboard.insertText('  stor');
    await keys(tab, 'Control+ ');
    const offer = tab.locator('.cm-tooltip-autocomplete li[aria-selected]');
    await offer.waitFor();
    assert.match(await offer.textContent(), /^storage/);
    await tab.locator('.cm-completionInfo').waitFor();
    // A list that has just come up takes no key for a moment, so that none is taken by mistake.
    await tab.waitForTimeout(200);
    await keys(tab, 'Enter');
    await tab.waitForFunction(() => [...document.querySelectorAll('#resource .cm-line')].some((line) => line.textContent === '  storage:'));
    await close();
  },

  async 'a place is explained by key'() {
    const { tab, close } = await open(browser);
    await tabTo(tab, RESOURCE);
    await keys(tab, 'Control+Home', ...Array(11).fill('ArrowDown'), 'End', 'Alt+h');
    const shown = tab.locator('.cm-tooltip.markdown');
    await shown.waitFor();
    assert.match(await shown.textContent(), /endpoint/);
    await keys(tab, 'Escape');
    await shown.waitFor({ state: 'detached' });
    await close();
  },

  async 'each side shows what belongs to a line of the other'() {
    const { tab, close } = await open(browser);
    await tabTo(tab, RESOURCE);
    await keys(tab, 'Control+Home', ...Array(11).fill('ArrowDown'));
    await tab.waitForSelector('#config .cm-linked');
    assert.match((await tab.locator('#config .cm-linked').allTextContents()).join('\n'), /http:\/\/vllm/);
    await tabTo(tab, CONFIG);
    await keys(tab, 'Control+Home');
    await tab.waitForFunction(() => document.querySelector('#origin').textContent.startsWith('Line 1:'));
    const origin = tab.locator('#origin');
    // Downwards, to the first line that the resource is the reason of.
    for (let step = 0; step < 60 && !(await origin.textContent()).includes('spec.'); step++) await keys(tab, 'ArrowDown');
    assert.match(await origin.textContent(), /spec\.providers\.inference\[0\]/);
    await tab.waitForSelector('#resource .cm-linked');
    await keys(tab, 'Enter');
    assert.ok(await tab.evaluate((selector) => document.activeElement.matches(selector), RESOURCE));
    await close();
  },

  async 'a resource is migrated, twice, and what gets lost is told'() {
    const { tab, close } = await open(browser);
    await choose(tab, '#sample', 'v1alpha1-env');
    await tab.waitForFunction(() => document.querySelector('#config-title').textContent.includes('·'));
    for (const [target, expected] of [['v1alpha2', 'apiVersion: llamastack.io/v1alpha2'], ['OGXServer (ogx 1.5', 'kind: OGXServer']]) {
      await choose(tab, '#target', target);
      await tabTo(tab, '#migrate');
      await keys(tab, 'Enter');
      await tab.waitForSelector('dialog[open] li');
      await tab.waitForFunction((line) => document.querySelector('dialog pre').textContent.includes(line), expected);
      await keys(tab, 'Enter');
      await tab.waitForSelector('dialog', { state: 'hidden' });
      await says(tab, '0 errors');
      assert.ok((await lines(tab)).includes(expected));
    }
    // There is nothing left to migrate, which is told and changes nothing.
    await tabTo(tab, '#migrate');
    await keys(tab, 'Enter');
    await says(tab, 'Not migrated', '#message');
    await close();
  },

  async 'a link holds text and version, and a broken one is told'() {
    const { tab, close } = await open(browser);
    await tabTo(tab, RESOURCE);
    await keys(tab, 'Control+End');
    await tab.keyboard.insertText('# größe 😀\n');
    await choose(tab, '#version', '0.7.3');
    await tabTo(tab, '#share');
    await keys(tab, 'Enter');
    await says(tab, 'link is copied', '#message');
    const link = await tab.evaluate(() => navigator.clipboard.readText());
    const before = await lines(tab);
    await close();
    const fragment = link.slice(link.indexOf('#'));
    const other = await open(browser, { fragment });
    assert.deepEqual(await lines(other.tab), before);
    assert.equal(await other.tab.locator('#version').inputValue(), '0.7.3');
    await other.close();
    const broken = await open(browser, { fragment: '#text=%21%21' });
    await says(broken.tab, 'cannot be read', '#message');
    await says(broken.tab, '0 errors');
    await broken.close();
  },

  async 'a text that is too long is refused, and the page goes on'() {
    const { tab, close } = await open(browser);
    await tabTo(tab, RESOURCE);
    await keys(tab, 'Control+End');
    await tab.keyboard.insertText(`# ${'x'.repeat(1 << 20)}`);
    await says(tab, 'longer than', '#message');
    await keys(tab, 'Control+z');
    await says(tab, '0 errors');
    await close();
  },
};

for (const [name, viewport] of [['wide', WIDE], ['narrow', NARROW]]) {
  for (const colorScheme of ['light', 'dark']) {
    tests[`names, roles and contrasts: ${name}, ${colorScheme}`] = async () => {
      const { tab, close } = await open(browser, { viewport, colorScheme });
      await choose(tab, '#sample', 'production');
      await tab.waitForFunction(() => document.querySelector('#config-title').textContent.includes('production'));
      await misspell(tab);
      const look = async (what) => {
        if (values.pictures) {
          fs.mkdirSync(values.pictures, { recursive: true });
          await tab.screenshot({ path: path.join(values.pictures, `${name}-${colorScheme}-${what}.png`) });
        }
        await tab.evaluate(axe);
        // CodeMirror hides what is off the screen, and scrolls by keyboard through its content, which axe does not see.
        const { violations } = await tab.evaluate(() => axe.run(document, { rules: { 'scrollable-region-focusable': { enabled: false } } }));
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`);
        assert.deepEqual(told, [], what);
        const wider = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wider, 0, `${what}: the page scrolls sideways`);
      };
      await look('mistake');
      await keys(tab, 'Control+z');
      await says(tab, '0 errors');
      await look('config');
      await choose(tab, '#target', 'OGXServer (ogx 1.5');
      await tabTo(tab, '#migrate');
      await keys(tab, 'Enter');
      await tab.waitForSelector('dialog[open]');
      await look('migration');
      await close();
    };
  }
}

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  try {
    await run();
    console.log(`ok     ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
