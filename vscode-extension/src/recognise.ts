// Whether a document concerns this extension at all. A look at the text, not a rule: the server decides the rest.
import type * as vscode from 'vscode';

const RESOURCE = /^\s*(?:-\s+)?kind:\s*["']?LlamaStackDistribution\b/m;

export function isResource(document: vscode.TextDocument): boolean {
  return document.languageId === 'yaml' && document.uri.scheme !== 'llsd-preview' && RESOURCE.test(document.getText());
}
