// The files of the workspace that the server may want to read: it cannot ask for them, so it is given all of them, and
// told when they change.
import * as vscode from 'vscode';

/** What of a file's name says that it is of interest: manifests, kustomizations, a team's settings, what is left alone. */
const NAMES = /(?:\.ya?ml|^Kustomization|^llsd\.toml|^\.gitignore)$/;
/** Folders that hold other people's files or build results; the server does not look there either. */
const SKIPPED = /^(?:\..*|node_modules|target|vendor|dist|__pycache__)$/;

// Those of the server's own search through folders on a disk, which this stands in front of.
const DEPTH = 12;
const ENTRIES = 50_000;
const TIME_MS = 5_000;
// The files stay in memory, and each may be a request to a host: there are fewer of them.
const FILES = 2_000;
const BYTES = 32 << 20;
/** Requests at a time. */
const AT_ONCE = 16;

export function isOfInterest(uri: vscode.Uri): boolean {
  return NAMES.test(uri.path.slice(uri.path.lastIndexOf('/') + 1));
}

/** A file's bytes; undefined if it cannot be read, or is larger than the settings allow. */
export async function read(uri: vscode.Uri): Promise<Uint8Array | undefined> {
  const most = vscode.workspace.getConfiguration('llsd', uri).get<number>('maxFileSize', 1 << 20);
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    return size > most ? undefined : await vscode.workspace.fs.readFile(uri);
  } catch {
    return undefined; // gone meanwhile, or not ours to read
  }
}

/** The files below `folders`, within the bounds above; `cut` is called with the reason where these leave some out. */
export async function gather(
  folders: readonly vscode.Uri[],
  cut: (reason: string) => void,
): Promise<[vscode.Uri, Uint8Array][]> {
  const found: [vscode.Uri, Uint8Array][] = [];
  const end = Date.now() + TIME_MS;
  const waiting = folders.map((uri) => ({ uri, depth: 0 }));
  const wanted: vscode.Uri[] = [];
  let entries = 0;
  while (waiting.length > 0 && entries < ENTRIES && wanted.length < FILES && Date.now() < end) {
    const looked = waiting.splice(0, AT_ONCE).map(async ({ uri, depth }) => {
      for (const [name, type] of await list(uri)) {
        entries += 1;
        const child = vscode.Uri.joinPath(uri, name);
        if (type === vscode.FileType.Directory && depth < DEPTH && !SKIPPED.test(name)) {
          waiting.push({ uri: child, depth: depth + 1 });
        } else if ((type & vscode.FileType.File) !== 0 && isOfInterest(child)) {
          wanted.push(child);
        }
      }
    });
    await Promise.all(looked);
  }
  let bytes = 0;
  let left = waiting.length > 0 || wanted.length > FILES;
  const files = wanted.slice(0, FILES);
  while (files.length > 0) {
    if (bytes > BYTES || Date.now() > end) {
      left = true;
      break;
    }
    await Promise.all(files.splice(0, AT_ONCE).map(async (uri) => {
      const content = await read(uri);
      if (content !== undefined) {
        bytes += content.length;
        found.push([uri, content]);
      }
    }));
  }
  if (left) {
    cut(`the workspace is larger than ${FILES} files, ${BYTES >> 20} MiB, or what can be read in ${TIME_MS / 1000} s: ${found.length} files are known`);
  }
  return found;
}

async function list(folder: vscode.Uri): Promise<[string, vscode.FileType][]> {
  try {
    return await vscode.workspace.fs.readDirectory(folder);
  } catch {
    return []; // not ours to read
  }
}
