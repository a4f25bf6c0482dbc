// What "New Resource from a Template…" offers, by use.
import * as vscode from 'vscode';

interface Template extends vscode.QuickPickItem {
  body: string[];
}

/** A snippet whose first two stops are name and distribution. */
const HEAD = ['apiVersion: llamastack.io/v1alpha2', 'kind: LlamaStackDistribution', 'metadata:', '  name: ${1:my-stack}', 'spec:', '  distribution:', '    name: ${2|starter,remote-vllm,postgres-demo,meta-reference-gpu|}'];
const VLLM = ['  providers:', '    inference:', '      - provider: vllm', '        endpoint: ${3:http://vllm:8000/v1}'];

/** The same of an OGXServer, whose labels no registry gives without a login: the base config is in a ConfigMap. */
const OGX = ['apiVersion: ogx.io/v1beta1', 'kind: OGXServer', 'metadata:', '  name: ${1:my-server}', 'spec:', '  distribution:', '    name: starter'];

/** By use, the most frequent first. */
export const TEMPLATES: Template[] = [
  {
    label: 'One model server',
    detail: 'A vLLM endpoint and a model',
    body: [...HEAD, ...VLLM, '  resources:', '    models:', '      - name: ${4:meta-llama/Llama-3.2-3B-Instruct}', ''],
  },
  {
    label: 'A hosted model with an API key',
    detail: 'The key stays in a Secret',
    body: [...HEAD, '  providers:', '    inference:', '      - provider: ${3|openai,anthropic,groq,together,fireworks|}', '        apiKey:', '          secretKeyRef:',
      '            name: ${4:credentials}', '            key: ${5:api-key}', ''],
  },
  {
    label: 'Two model servers',
    detail: 'Each with an id, and models that name it',
    body: [...HEAD, '  providers:', '    inference:', '      - id: ${3:large}', '        provider: vllm', '        endpoint: ${4:http://large:8000/v1}',
      '      - id: ${5:small}', '        provider: vllm', '        endpoint: ${6:http://small:8000/v1}', '  resources:', '    models:',
      '      - name: ${7:meta-llama/Llama-3.3-70B-Instruct}', '        provider: ${3:large}',
      '      - name: ${8:meta-llama/Llama-3.2-3B-Instruct}', '        provider: ${5:small}', ''],
  },
  {
    label: 'Documents and search',
    detail: 'A vector store beside the model server',
    body: [...HEAD, ...VLLM, '    vectorIo:', '      - provider: ${4|chromadb,qdrant,milvus,weaviate|}', '        endpoint: ${5:http://chromadb:8000}', ''],
  },
  {
    label: 'State in Postgres and Redis',
    detail: 'For more than one replica',
    body: [...HEAD, ...VLLM, '  storage:', '    kv:', '      type: redis', '      endpoint: ${4:redis:6379}', '    sql:', '      type: postgres',
      '      connectionString:', '        secretKeyRef:', '          name: ${5:postgres}', '          key: ${6:url}', '  workload:', '    replicas: ${7:2}', ''],
  },
  {
    label: 'Reachable from outside',
    detail: 'An Ingress, and who else may connect',
    body: [...HEAD, ...VLLM, '  networking:', '    expose:', '      hostname: ${4:llama.example.com}', '    allowedFrom:', '      namespaces:', '        - ${5:frontend}', ''],
  },
  {
    label: 'A config.yaml of my own',
    detail: 'Nothing is generated',
    body: [...HEAD, '  overrideConfig:', '    configMapName: ${3:my-config}', ''],
  },
  {
    label: 'ogx: one model server',
    detail: 'A vLLM endpoint and a model, over a base config in a ConfigMap',
    body: [...OGX, '  baseConfig:', '    name: ${2:base-config}', '    key: ${3:config.yaml}', '  providers:', '    inference:', '      remote:',
      '        vllm:', '          - id: vllm', '            endpoint: ${4:http://vllm:8000/v1}', '      inline:', '        custom:',
      '          - id: sentence-transformers', '            type: inline::sentence-transformers', '  resources:', '    models:',
      '      - name: ${5:meta-llama/Llama-3.2-3B-Instruct}', '        provider: vllm', ''],
  },
  {
    label: 'ogx: a config.yaml of my own',
    detail: 'Nothing is generated',
    body: [...OGX, '  overrideConfig:', '    name: ${2:my-config}', '    key: ${3:config.yaml}', ''],
  },
];

/** Asks for a use and opens an unsaved resource for it. */
export async function newResource(): Promise<void> {
  const template = await vscode.window.showQuickPick(TEMPLATES, { placeHolder: 'What is the resource for?', matchOnDetail: true });
  if (template === undefined) {
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: 'yaml' });
  const editor = await vscode.window.showTextDocument(document);
  await editor.insertSnippet(new vscode.SnippetString(template.body.join('\n')));
}
