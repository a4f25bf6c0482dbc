// Base configs of distributions, which are in no file: where "go to definition" leads for what they declare.
import * as vscode from 'vscode';
import { documentRequest } from '../protocol';
import { BASE_SCHEME } from '../recognise';
import type { Server } from '../server';

/** The text of a virtual document of the server's; undefined if it names none, or no server runs. */
export async function virtualText(server: Server, uri: vscode.Uri): Promise<string | undefined> {
  const client = server.running;
  const answer = await client?.sendRequest(documentRequest, { uri: client.code2ProtocolConverter.asUri(uri) });
  return answer?.text;
}

/** Serves base configs, read-only. */
export function baseConfigs(server: Server): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(BASE_SCHEME, {
    provideTextDocumentContent: async (uri) => (await virtualText(server, uri)) ?? '',
  });
}
