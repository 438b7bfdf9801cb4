/** The flags of commands that talk to an API server, which they find through the kubeconfig, as kubectl does. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { flag, type ValuesOf } from '../../base/flag.ts';
import { type Connection, connectionOf, loadKubeconfig } from '../../client/kubeconfig/kubeconfig.ts';

export const connectionFlags = [
  flag('--kubeconfig <file>', { help: 'kubeconfig file to use', defaultText: '$KUBECONFIG, or ~/.kube/config' }),
  flag('--context <name>', { help: 'context of the kubeconfig', defaultText: 'its current context' }),
] as const;

export type ConnectionFlags = ValuesOf<typeof connectionFlags>;

export async function connectionFor({ kubeconfig, context }: ConnectionFlags): Promise<Connection> {
  const files = (process.env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  const defaults = files.length > 0 ? files : [join(homedir(), '.kube', 'config')];
  return connectionOf(await loadKubeconfig(kubeconfig === undefined ? defaults : [kubeconfig]), context);
}
