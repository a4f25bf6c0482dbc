// "Show Environment Variables and Secrets": what the generated config needs from outside.
import * as vscode from 'vscode';
import type { PreviewAnswer } from '../protocol';

/** Lists the variables with their sources; a chosen one is copied. */
export async function showEnvironment(answer: PreviewAnswer | undefined): Promise<void> {
  if (answer === undefined || answer.env.length === 0) {
    void vscode.window.showInformationMessage('The generated config needs no environment variables of its own.');
    return;
  }
  const picked = await vscode.window.showQuickPick(
    answer.env.map((variable) => ({ label: variable.name, description: variable.source, detail: variable.path })),
    { placeHolder: 'Variables that the operator sets from Secrets. Select one to copy its name.' },
  );
  if (picked !== undefined) {
    await vscode.env.clipboard.writeText(picked.label);
  }
}
