// Names of files between VS Code and the server. A workspace in a browser is on no disk: its files have schemes and hosts
// such as `vscode-vfs://github/…`. To the server they are files below a folder that stands for both.
import * as vscode from 'vscode';
import { BASE_SCHEME, DIFF_SCHEME, PREVIEW_SCHEME } from '../recognise';

/** Documents that are in no file, for either side. */
const IN_NO_FILE = ['untitled', PREVIEW_SCHEME, BASE_SCHEME, DIFF_SCHEME];

/** The path by which the server knows a file; undefined for a document that is in no file. */
export function pathOf(uri: vscode.Uri): string | undefined {
  return IN_NO_FILE.includes(uri.scheme) ? undefined : `/${uri.scheme}@${encodeURIComponent(uri.authority)}${uri.path}`;
}

/** The name that the server gets. */
export function toServer(uri: vscode.Uri): string {
  const path = pathOf(uri);
  return path === undefined ? uri.toString() : vscode.Uri.from({ scheme: 'file', path }).toString();
}

/** The document behind a name of the server's. */
export function fromServer(name: string): vscode.Uri {
  const uri = vscode.Uri.parse(name);
  const [, scheme, authority, path] = /^\/([^/@]+)@([^/]*)(\/.*)?$/s.exec(uri.path) ?? [];
  return uri.scheme !== 'file' || scheme === undefined
    ? uri
    : vscode.Uri.from({ scheme, authority: decodeURIComponent(authority ?? ''), path: path ?? '' });
}
