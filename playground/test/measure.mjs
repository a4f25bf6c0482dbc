// How large the page is, and how soon it answers a key in a real Chromium. Prints Markdown.
// usage: node test/measure.mjs [SAMPLE] [KEYS]      (after build.sh)
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { RESOURCE, lines, open, page, root, says, start } from './browser.mjs';

const [sample = 'production', count = '200'] = process.argv.slice(2);
const built = process.env.CARGO_TARGET_DIR ?? path.join(root, '../target');
const engine = path.join(built, 'wasm32-unknown-unknown/wasm/llsd_playground.wasm');

const mega = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
console.log('| | as it is | gzip -9 | brotli 11 |\n|---|---|---|---|');
for (const [name, file] of [['engine', engine], ['page, with all of it', page]]) {
  const bytes = fs.readFileSync(file);
  const brotli = zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 24 } });
  console.log(`| ${name} | ${mega(bytes.length)} | ${mega(zlib.gzipSync(bytes, { level: 9 }).length)} | ${mega(brotli.length)} |`);
}

const browser = await start();
const begin = performance.now();
const { tab } = await open(browser);
const opened = performance.now() - begin;
await tab.selectOption('#sample', sample);
await tab.waitForFunction((sample) => document.querySelector('#config-title').textContent.includes(` ${sample} `), sample);
const length = (await lines(tab)).length;
await tab.click(`${RESOURCE} .cm-line:has-text("spec:")`);
await tab.keyboard.press('End');
await tab.keyboard.insertText('\n  ');
await says(tab, 'error');
// From the key, as the browser dates it, to the list of findings in the document; and to the end of the next frame.
await tab.evaluate(() => {
  window.times = [];
  let key;
  document.addEventListener('keydown', (event) => { key = event.timeStamp; }, true);
  new MutationObserver(() => {
    if (key === undefined) return;
    const [pressed, found] = [key, performance.now()];
    key = undefined;
    requestAnimationFrame(() => setTimeout(() => window.times.push([found - pressed, performance.now() - pressed])));
  }).observe(document.querySelector('#findings'), { childList: true });
});
for (let pressed = 0; pressed < Number(count); pressed++) {
  // A field that does not exist, letter by letter and back again: each key changes what is found.
  await tab.keyboard.press(pressed % 20 < 10 ? 'x' : 'Backspace');
  await tab.waitForFunction((seen) => window.times.length > seen, pressed);
}
const times = await tab.evaluate(() => window.times);
await browser.close();

const warm = times.slice(times.length / 10);
const told = (column) => {
  const sorted = warm.map((time) => time[column]).sort((one, other) => one - other);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
  return `${at(0.5)} | ${at(0.95)} | ${at(1)}`;
};
console.log(`\n${warm.length} keys in ${sample}.yaml (at least ${length} lines), after ${times.length - warm.length} others; page opened to its first answer in ${Math.round(opened)} ms\n`);
console.log('| milliseconds from a key | median | 95 % | slowest |\n|---|---|---|---|');
console.log(`| to the findings in the document | ${told(0)} |\n| to the end of the frame that shows them | ${told(1)} |`);
