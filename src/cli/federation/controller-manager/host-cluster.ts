/** The connection of a pod to its own cluster, and what the federation keeps there: the credentials of its members. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import { type Connection, connectionOf, parseKubeconfig } from '../../../client/kubeconfig/kubeconfig.ts';
import { Secret } from '../../../kinds/groups/core/secret.ts';
import type { Cluster } from '../../../kinds/groups/federation/cluster.ts';
import { CliError } from '../../output/cli-error.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Rejects outside of a pod. */
export async function hostConnection(env: NodeJS.ProcessEnv, directory = SERVICE_ACCOUNT): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port)
    throw new CliError('KUBERNETES_SERVICE_HOST is not set: run this command in a pod of the host cluster');
  const read = (file: string) => readFile(join(directory, file), 'utf8');
  const [token, ca] = await Promise.all([read('token'), read('ca.crt')]).catch((cause: Error) => {
    throw new CliError(`the service account of the pod cannot be read: ${cause.message}`, { cause });
  });
  return { server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`, token: token.trim(), ca };
}

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
