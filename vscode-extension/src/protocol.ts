// What llsd answers beyond the standard protocol. The server's side is server/src/lsp/handlers/preview*.rs.
import { RequestType } from 'vscode-languageclient';
import type { Position, Range, TextDocumentIdentifier } from 'vscode-languageclient';

/** Which resource: the one at `position`, else number `resource` of document number `document`. */
export interface ResourceParams {
  textDocument: TextDocumentIdentifier;
  position?: Position;
  document?: number;
  resource?: number;
  /** Whether what the distribution brings is folded away. */
  fold?: boolean;
}

export type OriginKind = 'resource' | 'base' | 'default' | 'rule';

export interface PreviewLine {
  kind: OriginKind;
  path: string;
  /** Where in the resource's document, for lines that come from it. */
  range?: Range;
}

export interface PreviewEnv {
  name: string;
  source: string;
  path: string;
  /** The user's Secret and its key; absent for one that the operator makes. */
  secret?: string;
  key?: string;
}

export interface PreviewAnswer {
  version: number;
  document: number;
  resource?: number;
  name: string;
  namespace?: string;
  text: string;
  languageId: string;
  /** One per line of `text`. */
  lines: PreviewLine[];
  env: PreviewEnv[];
  /** SHA-256 of `text`; empty where nothing is generated. */
  hash: string;
  warnings: string[];
  /** What the resource runs, and the version of llama-stack that it is checked against. */
  image?: string | null;
  llamaStackVersion?: string | null;
  /** The text is that of an earlier version: the resource as it is now gives none. */
  stale?: boolean;
}

export const previewRequest = new RequestType<ResourceParams, PreviewAnswer | null, void>('llsd/preview');

/** By which version of the server a place is judged, and what tells it; null where no resource or config is. */
export interface VersionAnswer {
  /** Such as `llama-stack 0.4.7`; empty where none is known. */
  versions: string;
  reason: string;
}

export const versionRequest = new RequestType<
  { textDocument: TextDocumentIdentifier; position: Position }, VersionAnswer | null, void>('llsd/version');

/** The text of a document that is in no file; null for a URI that names none. */
export const documentRequest = new RequestType<{ uri: string }, { text: string; languageId: string } | null, void>('llsd/document');

export type Against = 'base' | 'saved' | 'cluster';

export interface DiffSide {
  title: string;
  text: string;
}

export interface DiffAnswer {
  left: DiffSide;
  right: DiffSide;
}

export const previewDiffRequest =
  new RequestType<ResourceParams & { against: Against }, DiffAnswer | null, void>('llsd/previewDiff');
