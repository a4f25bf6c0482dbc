// The generated config, each line with where it comes from.
import { defaultKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { searchKeymap } from '@codemirror/search';
import { EditorState, RangeSetBuilder, StateEffect, StateField, type RangeSet, type Text } from '@codemirror/state';
import { EditorView, GutterMarker, gutter, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import type { Config, Origin } from './answers';
import { linked } from './linked';
import { followScheme, look } from './look';

/** Where a line comes from, in words. */
export function words(origin: Origin): string {
  switch (origin.kind) {
    case 'resource': return origin.path;
    case 'base': return `line ${origin.path} of the distribution's config`;
    case 'default': return `default: ${origin.path}`;
    case 'rule': return `rule: ${origin.path}`;
  }
}

class OriginMarker extends GutterMarker {
  constructor(private origin: Origin) { super(); }
  override eq(other: OriginMarker) { return other.origin.kind === this.origin.kind && other.origin.path === this.origin.path; }
  override toDOM() {
    const dom = document.createElement('span');
    dom.className = `cm-origin ${this.origin.kind}`;
    // The end of a path says more than its beginning; the text itself still reads from left to right.
    const text = document.createElement('bdi');
    text.dir = 'ltr';
    text.textContent = this.origin.kind === 'base' ? `base:${this.origin.path}` : this.origin.path;
    dom.append(text);
    dom.title = words(this.origin);
    return dom;
  }
}

const setOrigins = StateEffect.define<Origin[]>();

const origins = StateField.define<RangeSet<GutterMarker>>({
  create: () => new RangeSetBuilder<GutterMarker>().finish(),
  update(shown, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setOrigins)) continue;
      const builder = new RangeSetBuilder<GutterMarker>();
      effect.value.slice(0, transaction.newDoc.lines).forEach((origin, number) => {
        const { from } = transaction.newDoc.line(number + 1);
        builder.add(from, from, new OriginMarker(origin));
      });
      return builder.finish();
    }
    return shown;
  },
});

/** What happens in the preview. */
export interface Events {
  /** The cursor went to a line, from 0. */
  moved(line: number): void;
  /** The user wants to get to the origin of a line. */
  entered(line: number): void;
}

/** The read-only editor, in `parent`. */
export function configView(parent: HTMLElement, events: Events): EditorView {
  const current = (state: EditorState) => state.doc.lineAt(state.selection.main.head).number - 1;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        gutter({ class: 'cm-origins', markers: (view) => view.state.field(origins) }), origins,
        lineNumbers(), highlightActiveLine(), yaml(), look, linked, EditorState.readOnly.of(true),
        keymap.of([
          { key: 'Enter', run: (view) => { events.entered(current(view.state)); return true; } },
          ...defaultKeymap, ...searchKeymap,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': 'The generated config, read only' }),
        EditorView.updateListener.of((update) => {
          if (update.selectionSet && update.view.hasFocus) events.moved(current(update.state));
        }),
      ],
    }),
  });
  followScheme(view);
  return view;
}

/** Shows a config; what stays the same keeps its place on the screen. */
export function showConfig(view: EditorView, config: Config | null): void {
  const text = config?.text ?? '';
  const old = view.state.doc.toString();
  let start = 0;
  while (start < old.length && old[start] === text[start]) start++;
  let same = 0;
  while (same < Math.min(old.length, text.length) - start && old.at(-1 - same) === text.at(-1 - same)) same++;
  view.dispatch({
    changes: { from: start, to: old.length - same, insert: text.slice(start, text.length - same) },
    effects: setOrigins.of(config?.lines ?? []),
  });
}

const indentation = (text: string) => text.search(/[^ -]/);

/** The lines of the config, from 0, that come from the line at `at`; if none does, from what that line stands in. */
export function linesFrom(config: Config, resource: Text, at: number): number[] {
  let line = resource.lineAt(at);
  for (;;) {
    const { from, to } = line;
    const found = config.lines.flatMap((one, number) => one.from !== undefined && from <= one.from && one.from <= to ? [number] : []);
    if (found.length > 0) return found;
    const inner = indentation(line.text);
    do {
      if (line.number === 1 || inner < 1) return [];
      line = resource.line(line.number - 1);
    } while (line.text.trim() === '' || indentation(line.text) >= inner);
  }
}
