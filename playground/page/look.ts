// How both editors look. Colours are variables of style.css, which follow the user's scheme.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--comment)', fontStyle: 'italic' },
]);

const theme = EditorView.theme({
  '.cm-scroller': { fontFamily: 'ui-monospace, Menlo, Consolas, monospace', fontSize: '13px', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--panel)', color: 'var(--dim)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--chosen) 35%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--chosen)' },
  '.cm-linked': { background: 'var(--linked)' },
  '.cm-tooltip': { background: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--dim)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--chosen)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--dim)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: 'bold' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: '40rem' },
  '.cm-diagnosticAction': { background: 'var(--ground)', color: 'var(--text)', border: '1px solid var(--dim)' },
  '.cm-panels': { background: 'var(--panel)', color: 'var(--text)' },
  '.cm-origin': { display: 'block', maxWidth: '18ch', overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap',
    direction: 'rtl', textAlign: 'left', padding: '0 .4rem', borderLeft: '4px solid', fontSize: '11px' },
  '.cm-origin.resource': { borderColor: 'var(--resource)' },
  '.cm-origin.base': { borderColor: 'var(--base)' },
  '.cm-origin.default': { borderColor: 'var(--default)' },
  '.cm-origin.rule': { borderColor: 'var(--rule)' },
});

const scheme = new Compartment();
const dark = window.matchMedia('(prefers-color-scheme: dark)');

/** For every editor of the page. */
export const look: Extension = [theme, syntaxHighlighting(highlight), scheme.of(EditorView.darkTheme.of(dark.matches))];

/** Has an editor follow when the user's scheme changes. */
export function followScheme(view: EditorView): void {
  dark.addEventListener('change', () => {
    view.dispatch({ effects: scheme.reconfigure(EditorView.darkTheme.of(dark.matches)) });
  });
}
