// The one dialog of the page.

const dialog = document.querySelector<HTMLDialogElement>('#dialog')!;
const title = document.querySelector<HTMLElement>('#dialog-title')!;
const body = document.querySelector<HTMLElement>('#dialog-body')!;
const buttons = document.querySelector<HTMLElement>('#dialog-buttons')!;

/** A button of the dialog: its text, and what happens when it was chosen and the dialog is closed. */
export interface Choice { label: string; run?: () => void }

/** Shows `content` with choices; Escape takes none. `list`: one below the other, gone through with the arrow keys. */
export function show(heading: string, content: Node[], choices: Choice[], list = false): void {
  title.textContent = heading;
  body.replaceChildren(...content);
  buttons.classList.toggle('choices', list);
  buttons.replaceChildren(...choices.map(({ label, run }) => {
    const button = document.createElement('button');
    button.textContent = label;
    // In a form of the method "dialog" a button closes it; what comes then has the focus where it was before.
    button.addEventListener('click', () => dialog.addEventListener('close', () => run?.(), { once: true }));
    return button;
  }));
  if (!dialog.open) dialog.showModal();
  buttons.querySelector('button')?.focus();
}

buttons.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const all = [...buttons.querySelectorAll('button')];
  const now = all.indexOf(document.activeElement as HTMLButtonElement);
  all[(now + step + all.length) % all.length]?.focus();
  event.preventDefault();
});
