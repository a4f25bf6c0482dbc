// Without a server the schema is better than nothing: it is handed to the YAML extension, if that one is installed.
// While the server runs it is not: two voices would say the same thing twice.
import * as vscode from 'vscode';
import { isResource } from './recognise';
import type { Server } from './server';

const YAML_EXTENSION = 'redhat.vscode-yaml';
const SCHEME = 'llsd-schema';

/** The part of the YAML extension's interface that is used here. */
interface YamlExtension {
  registerContributor(
    schema: string,
    requestSchema: (resource: string) => string | undefined,
    requestSchemaContent: (uri: string) => string,
  ): boolean;
}

/** Offers the schema for resources as long as the server is not running. */
export async function offerSchema(schema: (version: string) => string, server: Server): Promise<boolean> {
  const yaml = await vscode.extensions.getExtension<YamlExtension>(YAML_EXTENSION)?.activate();
  if (yaml === undefined) {
    return false;
  }
  return yaml.registerContributor(SCHEME, (resource) => schemaFor(server, resource), (uri) =>
    schema(uri.endsWith('v1alpha1') ? 'v1alpha1' : 'v1alpha2'));
}

/** Which schema a document has; none while the server looks after it. */
export function schemaFor(server: Pick<Server, 'running'>, resource: string): string | undefined {
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === resource);
  if (server.running !== undefined || document === undefined || !isResource(document)) {
    return undefined;
  }
  const version = /^apiVersion:\s*["']?llamastack\.io\/v1alpha1\b/m.test(document.getText()) ? 'v1alpha1' : 'v1alpha2';
  return `${SCHEME}://schema/${version}`;
}
