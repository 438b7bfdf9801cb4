/** The connection of a pod to its own cluster. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
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
