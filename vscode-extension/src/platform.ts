// What differs between VS Code on a desktop, where the server is a program, and in a browser, where it is a module.
import type * as vscode from 'vscode';
import type { BaseLanguageClient, LanguageClientOptions } from 'vscode-languageclient';

export interface Platform {
  /** Whether programs can be run, such as `kubectl`, which tells what is in a cluster. */
  runsPrograms: boolean;
  /** Schemes of the documents that the server knows: those of the files that it can read, and `untitled`. */
  schemes(): string[];
  /** A client that starts a server as soon as it is started itself. */
  createClient(options: LanguageClientOptions, output: vscode.LogOutputChannel): BaseLanguageClient;
  /** What to tell where none can be started, and the setting that may be the reason. */
  notStarted(): { message: string; setting?: string };
  /** The JSON schema of a version of the resource; absent where there is always a server, which knows better. */
  schema?: (version: string) => string;
}
