// The status bar item: the state of the server and the findings of the active resource.
import * as vscode from 'vscode';
import { isResource } from './recognise';
import type { Server } from './server';

export function statusItem(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('llsd.status', vscode.StatusBarAlignment.Right, 90);
  item.name = 'LlamaStackDistribution';
  item.command = 'llsd.showOutput';

  const refresh = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const shown = document !== undefined && isResource(document);
    void vscode.commands.executeCommand('setContext', 'llsd.resourceActive', shown);
    if (!shown) {
      item.hide();
      return;
    }
    const findings = vscode.languages.getDiagnostics(document.uri).filter((found) => found.source === 'llsd');
    const errors = findings.filter((found) => found.severity === vscode.DiagnosticSeverity.Error).length;
    const icon = server.health === 'running' ? (errors > 0 ? '$(error)' : '$(check)') : '$(sync~spin)';
    item.text = server.health === 'running' ? `${icon} llsd: ${findings.length}` : `${icon} llsd ${server.health}`;
    item.tooltip = server.health === 'running'
      ? `${findings.length} findings, ${errors} of them errors. Select to see the server's output.`
      : `The server is ${server.health}. Select to see its output.`;
    item.accessibilityInformation = { label: `LlamaStackDistribution: ${item.tooltip}` };
    item.show();
  };

  refresh();
  return vscode.Disposable.from(
    item,
    server.onDidChangeHealth(refresh),
    vscode.window.onDidChangeActiveTextEditor(refresh),
    vscode.workspace.onDidChangeTextDocument((change) => {
      if (change.document === vscode.window.activeTextEditor?.document) {
        refresh();
      }
    }),
    vscode.languages.onDidChangeDiagnostics(refresh),
  );
}
