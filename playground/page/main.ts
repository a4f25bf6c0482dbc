// Puts the page together: the resource on one side, what becomes of it on the other.
import type { EditorView } from '@codemirror/view';
import type { About, Checked, Config } from './answers';
import { Client } from './client';
import { configView, linesFrom, showConfig, words } from './config';
import { show } from './dialog';
import { link } from './linked';
import { apply, resourceEditor, sentence, showFindings } from './resource';
import { fragment, shared } from './share';
import samples from 'llsd:samples';
import worker from 'llsd:worker';

function find<Kind extends Element>(selector: string): Kind {
  const found = document.querySelector<Kind>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

const summary = find<HTMLElement>('#summary');
const message = find<HTMLElement>('#message');
const findings = find<HTMLElement>('#findings');
const originLine = find<HTMLElement>('#origin');
const version = find<HTMLSelectElement>('#version');
const sample = find<HTMLSelectElement>('#sample');
const target = find<HTMLSelectElement>('#target');

/** Says what an action came to. It stays until the text changes: what is found meanwhile has a line of its own. */
function tell(text: string, style = ''): void {
  message.textContent = text;
  message.className = style;
}

function failed(error: unknown): void {
  tell(error instanceof Error ? error.message : String(error), 'error');
}

/** How many answers are not on the page yet. */
let awaited = 0;

/** Does what was asked for, and tells an error. Until all is on the page, it is marked as busy. */
async function run(work: () => Promise<void> | void): Promise<void> {
  awaited++;
  document.body.ariaBusy = 'true';
  try {
    await work();
  } catch (error) {
    failed(error);
  } finally {
    awaited--;
    document.body.ariaBusy = String(awaited > 0);
  }
}

/** The engine, packed into the page itself: nothing is fetched. */
async function engine(): Promise<Client> {
  const letters = atob(find('#engine').textContent ?? '');
  const packed = new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))]);
  const bytes = await new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  return new Client(worker, await WebAssembly.compile(bytes));
}

const started = engine();
/** What the text gives, if anything. */
let config: Config | null = null;
/** What is on the screen. */
let shown: Config | null = null;
let running = false;
let again = false;

const about = (): About => ({ text: resource.state.doc.toString(), version: version.value || null });

const resource: EditorView = resourceEditor(find('#resource'), {
  complete: async (at) => (await started).ask('complete', about(), { at }),
  hover: async (at) => (await started).ask('hover', about(), { at }),
}, { changed, moved, actions: () => { void run(actions); }, failed });

const preview: EditorView = configView(find('#config'), {
  moved(line) {
    const origin = config?.lines[line];
    originLine.textContent = origin ? `Line ${line + 1}: from ${origin.kind === 'resource' ? origin.path : words(origin)}` : '';
    const from = origin?.from;
    link(preview, []);
    link(resource, from === undefined ? [] : [resource.state.doc.lineAt(from).from]);
  },
  entered(line) {
    const from = config?.lines[line]?.from;
    if (from !== undefined) goTo(from);
  },
});

function goTo(at: number): void {
  resource.dispatch({ selection: { anchor: Math.min(at, resource.state.doc.length) }, scrollIntoView: true });
  resource.focus();
}

function changed(): void {
  tell('');
  void run(look);
}

function moved(): void {
  showLinks();
  void run(choose);
}

/** Marks the lines that come from the place of the cursor. */
function showLinks(): void {
  const at = resource.state.selection.main.head;
  const lines = config ? linesFrom(config, resource.state.doc, at) : [];
  link(resource, []);
  link(preview, lines.map((line) => preview.state.doc.line(line + 1).from));
  if (config) {
    originLine.textContent = lines.length === 0 ? '' : `This place gives line ${lines.map((line) => line + 1).join(', ')}`;
  }
}

/** Looks at the text. What is typed meanwhile is looked at afterwards, once. */
async function look(): Promise<void> {
  if (running) {
    again = true;
    return;
  }
  running = true;
  try {
    do {
      again = false;
      const { doc } = resource.state;
      const [asked, llsd] = [about(), await started];
      const found = await llsd.ask('check', asked);
      if (!resource.state.doc.eq(doc)) {
        again = true;
        continue;
      }
      showFindings(resource, doc, found);
      list(found);
      await choose();
    } while (again);
  } catch (error) {
    summary.textContent = '';
    findings.replaceChildren();
    throw error;
  } finally {
    running = false;
  }
}

/** Shows the config of the resource at the cursor. */
async function choose(): Promise<void> {
  const { doc } = resource.state;
  const made = await (await started).ask('preview', about(), { at: resource.state.selection.main.head });
  if (!resource.state.doc.eq(doc)) return;
  // While a text gives none, the last one stays, and has nothing to do with places of the text.
  const stale = made !== null && !made.generated && shown?.name === made.name;
  config = made?.generated ? made : null;
  if (!stale) {
    shown = made;
    showConfig(preview, made);
  }
  find('#config').classList.toggle('stale', stale);
  if (!config) originLine.textContent = stale ? `As it was before: ${made.problems[0]?.message ?? 'no config is generated now'}` : '';
  showLinks();
  const told = [made?.name, made?.image, made?.version && `version ${made.version}`].filter(Boolean);
  find('#config-title').textContent = ['Generated config', ...told].join(' · ');
  const variables = find<HTMLDetailsElement>('#variables');
  const env = shown?.env ?? [];
  variables.hidden = env.length === 0;
  find('#variables summary').textContent = `Environment variables from Secrets: ${env.length}`;
  find('#variables tbody').replaceChildren(...env.map(({ name, source }) => {
    const row = document.createElement('tr');
    for (const text of [name, source]) row.insertCell().textContent = text;
    return row;
  }));
}

function list(found: Checked): void {
  const count = (severity: string) => found.diagnostics.filter((one) => one.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const rest = found.diagnostics.length - errors - warnings;
  const plural = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
  const told = [plural(errors, 'error'), plural(warnings, 'warning'), ...(rest > 0 ? [plural(rest, 'remark')] : [])];
  summary.textContent = found.resources.length > 0 || found.diagnostics.length > 0
    ? told.join(', ') : found.unchecked[0]?.reason ?? 'There is no resource here';
  summary.className = errors > 0 ? 'error' : warnings > 0 ? 'warning' : '';
  findings.replaceChildren(...found.diagnostics.map((one) => {
    const button = document.createElement('button');
    const parts: [string, string][] = [
      [`severity ${one.severity}`, one.severity], ['line', `line ${resource.state.doc.lineAt(one.from).number}`],
      ['', sentence(one)], ['code', one.code],
    ];
    button.append(...parts.map(([style, text]) => Object.assign(document.createElement('span'), { className: style, textContent: text })));
    button.addEventListener('click', () => { goTo(one.from); });
    const item = document.createElement('li');
    item.append(button);
    return item;
  }));
}

async function actions(): Promise<void> {
  const { doc } = resource.state;
  const { from, to } = resource.state.selection.main;
  const offered = await (await started).ask('actions', about(), { from, to });
  const nothing = document.createElement('p');
  nothing.textContent = 'Nothing can be changed for you at this place.';
  const choices = offered.map((one) => ({ label: one.title, run: () => { apply(resource, doc, one.edits); resource.focus(); } }));
  show('Changes at the cursor', choices.length > 0 ? [] : [nothing], [...choices, { label: 'Cancel' }], true);
}

async function edit(kind: 'fix' | 'format', nothing: string): Promise<void> {
  const { doc } = resource.state;
  const edits = await (await started).ask(kind, about());
  if (edits.length === 0) tell(nothing);
  else apply(resource, doc, edits);
}

async function migrate(): Promise<void> {
  const { doc } = resource.state;
  const made = await (await started).ask('migrate', about(), { to: target.value });
  const notes = document.createElement('ul');
  notes.append(...made.lines.map((line) => Object.assign(document.createElement('li'), { textContent: line })));
  const text = Object.assign(document.createElement('pre'), { textContent: made.text, tabIndex: 0 });
  text.setAttribute('aria-label', 'The text after the migration');
  const replace = () => {
    apply(resource, doc, [{ from: 0, to: doc.length, insert: made.text }]);
    resource.focus();
  };
  const heading = made.same ? 'The same, migrated' : 'Migrated, but not all is as it was';
  show(heading, [notes, text], [{ label: 'Replace the text', run: replace }, { label: 'Cancel' }]);
}

async function share(): Promise<void> {
  history.replaceState(null, '', await fragment(about()));
  try {
    await navigator.clipboard.writeText(location.href);
    tell('The link is copied. The text is in it; nothing was sent.');
  } catch {
    tell('The link is in the address bar. The text is in it; nothing was sent.');
  }
}

const KEYS = [
  ['Ctrl+Space', 'what may be written here'], ['Ctrl+.', 'changes at the cursor'], ['Alt+H', 'what the place at the cursor means'],
  ['F8', 'next finding'], ['Ctrl+Shift+M', 'list of findings'], ['Ctrl+Z', 'undo'], ['Ctrl+F', 'find'],
  ['Tab', 'leaves the editor'], ['Enter (in the config)', 'goes to where the line comes from'],
];

function keys(): void {
  const list = document.createElement('ul');
  list.append(...KEYS.map(([key, meaning]) => {
    const item = document.createElement('li');
    item.append(Object.assign(document.createElement('kbd'), { textContent: key }), ` ${meaning}`);
    return item;
  }));
  show('Keys', [list], [{ label: 'Close' }]);
}

function replaceAll(text: string): void {
  resource.dispatch({ changes: { from: 0, to: resource.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
}

function on(selector: string, event: string, work: () => Promise<void> | void): void {
  find(selector).addEventListener(event, () => { void run(work); });
}

async function take(): Promise<void> {
  const given = await shared(location.hash);
  if (!given) return;
  version.value = given.version ?? '';
  replaceAll(given.text);
}

async function begin(): Promise<void> {
  sample.append(...Object.keys(samples).map((name) => new Option(name)));
  sample.value = 'minimal';
  const known = await (await started).ask('about');
  version.append(...known.versions.map((one) => new Option(one)));
  target.append(new Option('v1alpha2', 'v1alpha2'), ...known.ogx.map((one) => new Option(`OGXServer (ogx ${one})`, `ogx@${one}`)),
    ...known.versions.map((one) => new Option(`a config for ${one}`, `config@${one}`)));
  on('#sample', 'change', () => { replaceAll(samples[sample.value] ?? ''); });
  on('#version', 'change', look);
  on('#fix', 'click', () => edit('fix', 'Nothing has one obvious fix.'));
  on('#format', 'click', () => edit('format', 'All is formatted already.'));
  on('#migrate', 'click', migrate);
  on('#share', 'click', share);
  on('#keys', 'click', keys);
  window.addEventListener('hashchange', () => { void run(take); });
  replaceAll(samples['minimal'] ?? '');
  await take();
  await look();
}

void run(begin);
