// What llsd answers beyond the standard protocol. The server's side is server/src/lsp/handlers/preview.rs.
import { RequestType } from 'vscode-languageclient/node';
import type { Position, Range, TextDocumentIdentifier } from 'vscode-languageclient/node';

export interface PreviewParams {
  textDocument: TextDocumentIdentifier;
  position?: Position;
  document?: number;
  /** Number of the resource in its document: not 0 in a List or Template only. */
  resource?: number;
}

export type OriginKind = 'resource' | 'base' | 'default' | 'rule';

export interface PreviewLine {
  kind: OriginKind;
  path: string;
  /** Where in the resource's document, for lines that come from it. */
  range?: Range;
}

export interface PreviewAnswer {
  version: number;
  document: number;
  resource: number;
  name: string;
  text: string;
  languageId: string;
  /** One per line of `text`. */
  lines: PreviewLine[];
  env: { name: string; source: string; path: string }[];
  /** SHA-256 of `text`; empty where nothing is generated. */
  hash: string;
  warnings: string[];
}

export const previewRequest = new RequestType<PreviewParams, PreviewAnswer | null, void>('llsd/preview');
