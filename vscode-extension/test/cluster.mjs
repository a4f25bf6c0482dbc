// A real API server with the CustomResourceDefinition, and a resource that an operator has seen to.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PATIENCE } from './patience.mjs';

const resource = { apiVersion: 'llamastack.io/v1alpha2', kind: 'LlamaStackDistribution',
  metadata: { name: 'hosted', namespace: 'models' }, spec: { distribution: { name: 'starter' } } };
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'hosted-config-1', namespace: 'models' },
  data: { 'config.yaml': 'version: 2\nimage_name: what-runs-now\n' } };
const status = { status: { phase: 'Ready', configGeneration: { configMapName: 'hosted-config-1' } } };

/** Starts it; `stop` ends it, and so does the end of this process. */
export async function startCluster(root) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'llsd-vscode-cluster-'));
  const scripts = path.join(root, '../tests/cluster');
  const kubectl = path.join(execFileSync(path.join(scripts, 'build.sh'), { encoding: 'utf8' }).trim(), 'kubectl');
  const server = spawn(path.join(scripts, 'up.sh'), [folder, '--attached'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const stop = async () => {
    if (server.exitCode === null) {
      server.stdin.end();
      await once(server, 'exit');
    }
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  const [line] = await Promise.race([once(server.stdout, 'data'), once(server, 'exit')]);
  if (String(line) !== 'ready\n') {
    throw new Error(`tests/cluster/up.sh did not start an API server: ${line}`);
  }
  const kubeconfig = path.join(folder, 'kubeconfig');
  const run = (args, object) => execFileSync(kubectl, ['--kubeconfig', kubeconfig, '--cache-dir', path.join(folder, 'cache'), ...args],
    { input: object === undefined ? '' : JSON.stringify(object), stdio: ['pipe', 'pipe', 'pipe'] });
  try {
    run(['apply', '--server-side', '--filename', path.join(root, '../operator/deploy/crd/llamastackdistributions.yaml')]);
    run(['create', 'namespace', 'models']);
    run(['apply', '--filename', '-'], config);
    // The kind is served some moments after its definition is there.
    for (const end = Date.now() + PATIENCE; ;) {
      try {
        run(['apply', '--filename', '-'], resource);
        break;
      } catch (error) {
        if (Date.now() > end) throw error;
        await new Promise((done) => setTimeout(done, 500));
      }
    }
    run(['patch', 'llamastackdistributions.llamastack.io', 'hosted', '--namespace', 'models', '--subresource=status', '--type=merge',
      '--patch', JSON.stringify(status)]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, kubectl, stop };
}
