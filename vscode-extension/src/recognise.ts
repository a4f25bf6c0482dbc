// Whether a document concerns this extension at all. A look at the text, not a rule: the server decides the rest.
import * as vscode from 'vscode';

/** Languages that manifests come in: YAML, what extensions for Helm and other templates call theirs, and shell scripts. */
const LANGUAGES = ['yaml', 'helm', 'helm-template', 'yaml-tmpl', 'yaml-template', 'shellscript'];

/** The setting that adds Markdown to them. */
export const MARKDOWN = 'llsd.markdown.enabled';

/** The languages of documents that are looked at. */
export function languages(): string[] {
  return vscode.workspace.getConfiguration().get<boolean>(MARKDOWN, false) ? [...LANGUAGES, 'markdown'] : LANGUAGES;
}

/** Schemes of documents that this extension makes itself. */
export const PREVIEW_SCHEME = 'llsd-preview';
export const DIFF_SCHEME = 'llsd-diff';
export const BASE_SCHEME = 'llsd-base';

const RESOURCE = /^\s*(?:-\s+)?kind:\s*["']?(?:LlamaStackDistribution|OGXServer)\b/m;
/** A ConfigMap that holds a llama-stack config. */
const CONFIG_MAP = /^\s*(?:config|run)\.ya?ml:\s*[|>]/m;
/** A config of the server by itself. */
const VERSION = /^(?:version:\s*["']?\d|distro_name:)/m;
const APIS = /^(?:apis|providers|image_name):/m;
const ENOUGH = 64 * 1024;

function isOurs(document: vscode.TextDocument): boolean {
  return languages().includes(document.languageId)
    && ![PREVIEW_SCHEME, DIFF_SCHEME, BASE_SCHEME].includes(document.uri.scheme);
}

/** Whether the document has a resource: what commands on resources are offered for. */
export function isResource(document: vscode.TextDocument): boolean {
  return isOurs(document) && RESOURCE.test(document.getText());
}

/** Whether the server has something to say about the document: a resource, or a config that resources refer to. */
export function concerns(document: vscode.TextDocument): boolean {
  if (!isOurs(document)) {
    return false;
  }
  const text = document.getText();
  const head = text.slice(0, ENOUGH);
  return RESOURCE.test(text) || CONFIG_MAP.test(text) || (VERSION.test(head) && APIS.test(head));
}
