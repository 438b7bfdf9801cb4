/** Credentials of the federation's members, which it keeps in its host cluster. */
import type { DeepReadonly } from '../../api/object-types.ts';
import type { Client } from '../../client/client.ts';
import { type Connection, connectionOf, parseKubeconfig } from '../../client/kubeconfig/kubeconfig.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import type { Cluster } from '../../kinds/groups/federation/cluster.ts';

/** How the federation reaches a member: the kubeconfig in its Secret. */
export async function memberConnection(
  { metadata, spec }: DeepReadonly<Cluster>,
  { host, namespace, signal }: { readonly host: Client; readonly namespace: string; readonly signal: AbortSignal },
): Promise<Connection> {
  const name = spec.secretRef?.name;
  const address = spec.serverAddressByClientCIDRs?.[0]?.serverAddress;
  if (!name) {
    if (!address) throw new Error(`cluster ${metadata.name} has neither a secret nor an address`);
    return { server: address.includes('://') ? address : `https://${address}` };
  }
  const { data } = await host.of(Secret).in(namespace).get(name, { signal });
  const kubeconfig = data?.kubeconfig;
  if (kubeconfig === undefined) throw new Error(`the secret ${namespace}/${name} has no kubeconfig`);
  return connectionOf(parseKubeconfig(Buffer.from(kubeconfig, 'base64').toString('utf8'), `secret ${name}`));
}
