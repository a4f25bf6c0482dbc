// Questions to the engine and what it answers (`src/question.rs`, `src/answers.rs`). Positions are those of CodeMirror.

export interface Range { from: number; to: number }
export interface Edit extends Range { insert: string }
export interface Fix { title: string; edits: Edit[]; preferred: boolean }
export interface Related extends Range { message: string }

export interface Finding extends Range {
  severity: 'error' | 'warning' | 'info' | 'hint';
  code: string;
  message: string;
  apiServer: string | null;
  deprecated: boolean;
  related: Related[];
  fixes: Fix[];
}

export interface Checked {
  diagnostics: Finding[];
  unchecked: (Range & { rule: string | null; reason: string })[];
  resources: (Range & { version: string; name: string })[];
}

export interface Offer {
  label: string;
  kind: 'field' | 'enum' | 'value' | 'provider' | 'reference' | 'snippet';
  detail: string;
  documentation: string;
  edit: Edit;
  snippet: boolean;
  sort: number;
  filter: string;
}

/** Where a line of the config comes from; `from` and `to` only if that is a place of the resource. */
export interface Origin { kind: 'resource' | 'base' | 'default' | 'rule'; path: string; from?: number; to?: number }

export interface Config {
  name: string;
  image: string | null;
  version: string | null;
  generated: boolean;
  text: string;
  lines: Origin[];
  problems: (Range & { message: string })[];
  env: { name: string; source: string; path: string }[];
  warnings: string[];
}

export interface Answers {
  about: { program: string; versions: string[]; ogx: string[] };
  check: Checked;
  preview: Config | null;
  complete: Offer[];
  hover: (Range & { markdown: string }) | null;
  actions: Fix[];
  fix: Edit[];
  format: Edit[];
  migrate: { text: string; lines: string[]; same: boolean };
}

/** A text, with the version of the server where nothing in it tells one. */
export interface About { text: string; version: string | null }

export interface Asked { at?: number; from?: number; to?: number | string }
