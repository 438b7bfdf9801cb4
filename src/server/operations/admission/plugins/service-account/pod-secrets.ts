/** Finds the secrets that a pod references, and checks whether its service account allows them. */
import type { ServiceAccount } from '../../../../../kinds/groups/core/service-account.ts';
import type { Container } from '../../../../../kinds/shapes/container/container.ts';
import type { PodSpec } from '../../../../../kinds/shapes/pod/pod-spec.ts';

export function referencesSecrets(spec: PodSpec): boolean {
  if (spec.imagePullSecrets?.length) return true;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  if (containers.some((container) => secretsOf(container).length > 0)) return true;
  return (spec.volumes ?? []).some((volume) => {
    const { azureFile, cephfs, flexVolume, projected, rbd, secret, scaleIO, iscsi, storageos, csi } = volume;
    return (
      secret ||
      azureFile ||
      projected?.sources?.some((source) => source.secret) ||
      [cephfs, flexVolume, rbd, scaleIO, iscsi, storageos].some((source) => source?.secretRef) ||
      csi?.nodePublishSecretRef
    );
  });
}

interface Reference {
  readonly secret: string;
  readonly words: string;
}

function secretsOf({ env = [], envFrom = [] }: Container): Reference[] {
  return [
    ...env.flatMap(({ name, valueFrom }) => {
      const secret = valueFrom?.secretKeyRef?.name;
      return secret === undefined ? [] : [{ secret, words: `envVar ${name}` }];
    }),
    ...envFrom.flatMap(({ secretRef }) =>
      secretRef?.name === undefined ? [] : [{ secret: secretRef.name, words: 'envFrom' }],
    ),
  ];
}

const parts = {
  init: ['initContainers', 'init container'],
  main: ['containers', 'container'],
  ephemeral: ['ephemeralContainers', 'ephemeral container'],
} as const;

/** Returns why an account that allows only its own secrets does not allow those of a pod; undefined when it does. */
export function mountableSecretsProblem(
  spec: PodSpec,
  account: ServiceAccount,
  lists: readonly (keyof typeof parts | 'pod')[],
): string | undefined {
  const { name: owner } = account.metadata;
  const allowed = new Set(account.secrets?.map(({ name }) => name));
  const why = `is not allowed because service account ${owner} does not reference that`;
  if (lists.includes('pod')) {
    for (const { secret } of spec.volumes ?? []) {
      if (secret && !allowed.has(secret.secretName)) {
        return `volume with secret.secretName="${secret.secretName}" ${why} secret`;
      }
    }
  }
  for (const list of lists) {
    if (list === 'pod') continue;
    const [field, words] = parts[list];
    for (const container of spec[field] ?? []) {
      const wrong = secretsOf(container as Container).find(({ secret }) => !allowed.has(secret));
      if (!wrong) continue;
      return `${words} ${container.name} with ${wrong.words} referencing secret.secretName="${wrong.secret}" ${why} secret`;
    }
  }
  if (!lists.includes('pod')) return undefined;
  const pulls = new Set(account.imagePullSecrets?.map(({ name }) => name));
  const wrong = spec.imagePullSecrets?.findIndex(({ name }) => !pulls.has(name)) ?? -1;
  if (wrong < 0) return undefined;
  return `imagePullSecrets[${wrong}].name="${spec.imagePullSecrets![wrong]!.name}" ${why} imagePullSecret`;
}
