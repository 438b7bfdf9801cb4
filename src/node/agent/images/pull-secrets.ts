/** Reads the pull secrets of a pod, to which the server has added those of its service account. */
import type { SeenPod } from '../../pod/container-run.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';
import { credentialsFor, type PullSecret } from './keyring.ts';

export interface PodCredentials {
  /** Credentials that fit the image. */
  readonly credentials: readonly RegistryCredentials[];
  /** Names of secrets that could not be read. */
  readonly missing: readonly string[];
}

export async function podCredentials(
  pod: SeenPod,
  image: string,
  read: (namespace: string, name: string) => Promise<PullSecret | undefined>,
): Promise<PodCredentials> {
  const secrets: PullSecret[] = [];
  const missing: string[] = [];
  for (const { name = '' } of pod.spec.imagePullSecrets ?? []) {
    const secret = await read(pod.metadata.namespace ?? '', name);
    if (secret) secrets.push(secret);
    else missing.push(name);
  }
  return { credentials: credentialsFor(image, secrets), missing };
}
