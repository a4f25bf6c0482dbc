// The page in a real Chromium, opened from a file.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const root = path.join(import.meta.dirname, '..');
export const page = path.join(root, 'out/index.html');
export const RESOURCE = '#resource .cm-content';
export const CONFIG = '#config .cm-content';
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };
/** Milliseconds from which on a wait is a hang. */
export const PATIENCE = 120_000;

export function start(program = process.env.CHROMIUM ?? '/usr/bin/chromium') {
  if (!fs.existsSync(page)) throw new Error(`${page} is missing: playground/build.sh makes it`);
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: PATIENCE });
}

/** A page that has looked at its text, with all that it asked the network for, and all errors that it told. */
export async function open(browser, { viewport = WIDE, colorScheme = 'light', fragment = '' } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, permissions: ['clipboard-read', 'clipboard-write'] });
  context.setDefaultTimeout(PATIENCE);
  const tab = await context.newPage();
  const requests = [];
  const complaints = [];
  context.on('request', (request) => { requests.push(request.url()); });
  tab.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
  tab.on('pageerror', (error) => { complaints.push(String(error)); });
  await tab.goto(pathToFileURL(page).href + fragment);
  await settled(tab);
  return { tab, requests, complaints, close: () => context.close() };
}

/** Waits until every answer to what was done is on the page. */
export function settled(tab) {
  return tab.waitForFunction(() => document.body.ariaBusy === 'false');
}

/** Waits until all is on the page, and `line`, one of those below the resource, contains `text`. */
export function says(tab, text, line = '#summary') {
  return tab.waitForFunction(([text, line]) => document.body.ariaBusy === 'false'
    && document.querySelector(line).textContent.includes(text), [text, line]);
}

/** The lines of an editor that are on the screen. */
export async function lines(tab, editor = RESOURCE) {
  return tab.locator(`${editor} .cm-line`).evaluateAll((all) => all.map((line) => line.textContent));
}
