// What "New Resource from a Template…" offers, by use.
import * as vscode from 'vscode';

interface Template extends vscode.QuickPickItem {
  body: string[];
}

const HEAD = ['apiVersion: llamastack.io/v1alpha2', 'kind: LlamaStackDistribution', 'metadata:', '  name: ${1:my-stack}', 'spec:', '  distribution:', '    name: ${2:starter}'];
const INFERENCE = ['  providers:', '    inference:', '      - provider: ${3:vllm}', '        endpoint: ${4:http://vllm:8000/v1}'];

const TEMPLATES: Template[] = [
  {
    label: 'One model server',
    detail: 'A vLLM endpoint and a model',
    body: [...HEAD, ...INFERENCE, '  resources:', '    models:', '      - name: ${5:meta-llama/Llama-3.2-3B-Instruct}', ''],
  },
  {
    label: 'A hosted model with an API key',
    detail: 'The key stays in a Secret',
    body: [...HEAD, '  providers:', '    inference:', '      - provider: ${3:openai}', '        apiKey:', '          secretKeyRef:',
      '            name: ${4:credentials}', '            key: ${5:api-key}', ''],
  },
  {
    label: 'State in Postgres and Redis',
    detail: 'For more than one replica',
    body: [...HEAD, ...INFERENCE, '  storage:', '    kv:', '      type: redis', '      endpoint: ${5:redis:6379}', '    sql:', '      type: postgres',
      '      connectionString:', '        secretKeyRef:', '          name: ${6:postgres}', '          key: ${7:url}', ''],
  },
  {
    label: 'A config.yaml of my own',
    detail: 'Nothing is generated',
    body: [...HEAD, '  overrideConfig:', '    configMapName: ${3:my-config}', ''],
  },
];

/** Asks for a use and opens an unsaved resource for it. */
export async function newResource(): Promise<void> {
  const template = await vscode.window.showQuickPick(TEMPLATES, { placeHolder: 'What is the resource for?' });
  if (template === undefined) {
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: 'yaml' });
  const editor = await vscode.window.showTextDocument(document);
  await editor.insertSnippet(new vscode.SnippetString(template.body.join('\n')));
}
