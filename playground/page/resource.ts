// The editor of the resource: findings, offers, hovers and actions, all as the engine answers them.
import {
  autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, insertCompletionText, snippet,
  type Completion, type CompletionContext, type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, StateEffect, StateField, type Text } from '@codemirror/state';
import {
  EditorView, crosshairCursor, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap,
  lineNumbers, showTooltip, type Tooltip,
} from '@codemirror/view';
import type { Answers, Checked, Edit, Finding, Fix, Offer } from './answers';
import { linked } from './linked';
import { followScheme, look } from './look';
import { markdown } from './markdown';

/** What is known of a place, if anything. */
type Explained = Answers['hover'];

/** What the editor asks, of the text as it stands. */
export interface Questions {
  complete(at: number): Promise<Offer[]>;
  hover(at: number): Promise<Explained>;
}

/** What happens in the editor. */
export interface Events {
  changed(): void;
  moved(): void;
  actions(): void;
  failed(error: unknown): void;
}

/** Makes edits of the text `of`; not where that has changed since. */
export function apply(view: EditorView, of: Text, edits: Edit[]): boolean {
  if (!view.state.doc.eq(of)) return false;
  view.dispatch({ changes: edits, userEvent: 'input.fix', scrollIntoView: true });
  return true;
}

/** A snippet of the language server as one of CodeMirror: `$1`, `${1:text}` and `$0`, with `\` in front of `$`, `}`, `\`. */
export function template(text: string): string {
  const last = '${99}';
  const plain = (letters: string) => letters.replaceAll(/[{}]/g, '\\$&');
  let made = '';
  for (const [whole, escaped, number, numbered, label] of text.matchAll(/\\([\\$}])|\$(\d+)|\$\{(\d+)(?::([^}]*))?\}|[^]/g)) {
    const field = number ?? numbered;
    if (escaped !== undefined) made += plain(escaped);
    else if (field === undefined) made += plain(whole);
    else if (field === '0') made += last;
    else made += label ? `\${${field}:${label}}` : `\${${field}}`;
  }
  return made;
}

function accept(offer: Offer) {
  return (view: EditorView, completion: Completion, _from: number, to: number) => {
    const { from } = offer.edit;
    // What was typed since the offer came counts as typed so far.
    const end = Math.max(to, offer.edit.to);
    if (offer.snippet) snippet(template(offer.edit.insert))(view, completion, from, end);
    else view.dispatch(insertCompletionText(view.state, offer.edit.insert, from, end));
  };
}

const TYPES = { field: 'property', enum: 'enum', value: 'constant', provider: 'class', reference: 'variable', snippet: 'text' };

function completions(questions: Questions, events: Events) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const typed = context.matchBefore(/[\w:./-]+$/);
    if (!context.explicit && !typed && !/[:-] $/.test(context.state.doc.lineAt(context.pos).text.slice(0, context.pos))) return null;
    const offers = await questions.complete(context.pos).catch((error) => { events.failed(error); return []; });
    if (context.aborted || offers.length === 0) return null;
    const from = Math.min(...offers.map((offer) => offer.edit.from));
    const options = offers.map((offer, number): Completion => ({
      label: offer.filter, displayLabel: offer.label, detail: offer.detail, type: TYPES[offer.kind],
      // In the engine's order, as far as both match what was typed as well.
      boost: Math.max(-99, 99 - number),
      ...(offer.documentation ? { info: () => markdown(offer.documentation) } : {}),
      apply: accept(offer),
    }));
    return { from: Math.min(from, context.pos), options };
  };
}

const setHover = StateEffect.define<Tooltip | null>();

/** What is explained by key: at the cursor, until that moves. */
const hoverAtCursor = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, transaction) {
    const now = transaction.docChanged || transaction.selection ? null : shown;
    return transaction.effects.reduce((tip, effect) => effect.is(setHover) ? effect.value : tip, now);
  },
  provide: (field) => showTooltip.from(field),
});

function tooltip(from: number, text: string): Tooltip {
  const create = () => {
    const dom = markdown(text);
    dom.tabIndex = 0;
    dom.setAttribute('role', 'status');
    return { dom };
  };
  return { pos: from, above: true, create };
}

/** The editor, in `parent`. */
export function resourceEditor(parent: HTMLElement, questions: Questions, events: Events): EditorView {
  const explain = (view: EditorView) => {
    const { head } = view.state.selection.main;
    const show = (hover: Explained) => { view.dispatch({ effects: setHover.of(hover && tooltip(head, hover.markdown)) }); };
    // Behind a word, that word is meant.
    questions.hover(head).then((hover) => hover ?? questions.hover(Math.max(0, head - 1))).then(show, events.failed);
    return true;
  };
  const close = (view: EditorView) => {
    if (!view.state.field(hoverAtCursor)) return false;
    view.dispatch({ effects: setHover.of(null) });
    return true;
  };
  const state = EditorState.create({
    extensions: [
      lineNumbers(), lintGutter(), highlightActiveLineGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(),
      closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), crosshairCursor(), yaml(), look, linked, hoverAtCursor,
      autocompletion({ override: [completions(questions, events)], icons: false }),
      hoverTooltip(async (_view, at) => {
        const hover = await questions.hover(at).catch((error) => { events.failed(error); return null; });
        return hover && { ...tooltip(hover.from, hover.markdown), end: hover.to };
      }),
      keymap.of([
        { key: 'Mod-.', run: () => { events.actions(); return true; } },
        { key: 'Alt-h', run: explain },
        { key: 'Escape', run: close },
        ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap,
      ]),
      EditorView.contentAttributes.of({ 'aria-label': 'The resource, as YAML' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) events.changed();
        else if (update.selectionSet && update.view.hasFocus) events.moved();
      }),
    ],
  });
  const view = new EditorView({ state, parent });
  followScheme(view);
  return view;
}

/** Shows what was found in the text `of`, with its fixes as buttons. */
export function showFindings(view: EditorView, of: Text, found: Checked): void {
  const action = (fix: Fix) => ({ name: fix.title, apply: (view: EditorView) => { apply(view, of, fix.edits); } });
  const shown = found.diagnostics.map((one: Finding): Diagnostic => ({
    from: one.from, to: one.to, severity: one.severity, source: one.code, message: sentence(one),
    ...(one.deprecated ? { markClass: 'deprecated' } : {}), actions: one.fixes.map(action),
  }));
  view.dispatch(setDiagnostics(view.state, shown));
}

/** What a finding says, and what the API server would. */
export function sentence(one: Finding): string {
  return one.apiServer ? `${one.message}\nThe API server: ${one.apiServer}` : one.message;
}
