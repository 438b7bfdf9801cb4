/** How commands that speak to a cluster find it: by the client configuration, as kubectl does. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Command } from 'commander';
import { type Connection, connectionOf, loadKubeconfig } from '../../client/kubeconfig/kubeconfig.ts';

export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function withConnectionFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'the client configuration (default: KUBECONFIG, or ~/.kube/config)')
    .option('--context <name>', 'which of its contexts (default: the current one)');
}

export async function connectionFor({ kubeconfig, context }: ConnectionFlags): Promise<Connection> {
  const files = (process.env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  const usual = files.length > 0 ? files : [join(homedir(), '.kube', 'config')];
  return connectionOf(await loadKubeconfig(kubeconfig === undefined ? usual : [kubeconfig]), context);
}
