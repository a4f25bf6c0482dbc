// Lines of one side that belong to the place of the cursor on the other side.
import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';

const set = StateEffect.define<number[]>();
const line = Decoration.line({ class: 'cm-linked' });

export const linked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let now = transaction.docChanged ? Decoration.none : shown;
    for (const effect of transaction.effects) {
      if (effect.is(set)) now = Decoration.set(effect.value.map((at) => line.range(at)));
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Marks lines, by the positions where they begin, in their order, and shows the first of them. */
export function link(view: EditorView, starts: number[]): void {
  const [first] = starts;
  const effects: StateEffect<unknown>[] = [set.of(starts)];
  if (first !== undefined) effects.push(EditorView.scrollIntoView(first, { y: 'nearest', yMargin: 40 }));
  view.dispatch({ effects });
}
