// "Copy as kubectl Command": what to type in a terminal to get the resource, and the Secrets it needs, into a cluster.
import * as vscode from 'vscode';
import type { PreviewAnswer } from '../protocol';

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The commands: Secrets that the generated config reads, with blanks to fill in, then the resource itself. */
export function kubectlCommands(document: vscode.TextDocument, answer: PreviewAnswer | undefined): string {
  const namespace = answer?.namespace === undefined || answer.namespace === '' ? '' : ` --namespace ${quoted(answer.namespace)}`;
  const secrets = new Map<string, Set<string>>();
  for (const { secret, key } of answer?.env ?? []) {
    if (secret !== undefined && key !== undefined) {
      secrets.set(secret, (secrets.get(secret) ?? new Set()).add(key));
    }
  }
  const creations = [...secrets].map(([name, keys]) => {
    const literals = [...keys].map((key) => ` --from-literal=${quoted(key)}=VALUE`).join('');
    return `kubectl create secret generic ${quoted(name)}${namespace}${literals}`;
  });
  return [...creations, apply(document, namespace)].join('\n');
}

function apply(document: vscode.TextDocument, namespace: string): string {
  if (document.uri.scheme !== 'untitled') {
    return `kubectl apply${namespace} --filename ${quoted(vscode.workspace.asRelativePath(document.uri, false))}`;
  }
  let end = 'EOF';
  while (document.getText().split(/\r?\n/).includes(end)) {
    end += '_';
  }
  return `kubectl apply${namespace} --filename - <<'${end}'\n${document.getText().trimEnd()}\n${end}`;
}
