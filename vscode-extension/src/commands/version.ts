// "Select the llama-stack Version": for images whose tag does not tell, and to see what an upgrade would change.
import * as vscode from 'vscode';

/** The part of package.json that declares the setting. A test of the server compares its versions with the catalogs. */
interface Manifest {
  contributes: { configuration: { properties: { 'llsd.llamaStackVersion': { enum: string[] } } } };
}

interface Choice extends vscode.QuickPickItem {
  version: string;
}

/** Asks for a version and keeps it in the workspace's settings, or the user's where no folder is open. */
export async function selectVersion(extension: vscode.Extension<unknown>): Promise<void> {
  const manifest = extension.packageJSON as Manifest;
  const versions = manifest.contributes.configuration.properties['llsd.llamaStackVersion'].enum;
  const settings = vscode.workspace.getConfiguration('llsd');
  const now = settings.get<string>('llamaStackVersion', '');
  const choices: Choice[] = [
    { version: '', label: 'From the image', detail: 'The tag of the image, else the version that the distribution pins' },
    ...versions.filter((version) => version !== '').map((version) => ({ version, label: version })),
  ];
  for (const choice of choices) {
    if (choice.version === now) {
      choice.description = 'in use';
    }
  }
  const picked = await vscode.window.showQuickPick(choices, { placeHolder: 'Check resources against which llama-stack version?' });
  if (picked === undefined) {
    return;
  }
  const target = vscode.workspace.workspaceFolders === undefined
    ? vscode.ConfigurationTarget.Global
    : vscode.ConfigurationTarget.Workspace;
  await settings.update('llamaStackVersion', picked.version === '' ? undefined : picked.version, target);
}
