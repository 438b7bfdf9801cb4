/** Objects that a pod refers to, as plain values. */
import type { SeenContainer } from '../pod/container-run.ts';

/** A ConfigMap or Secret that was looked for. */
export type Found<T> =
  | { readonly type: 'found'; readonly object: T }
  | { readonly type: 'missing' }
  /** It could not be read; the message becomes that of the container. */
  | { readonly type: 'failed'; readonly message: string };

export interface ConfigMapData {
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretData {
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface ServiceAddress {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  };
}

/** Inputs for the environment of a container: everything that `referencesOf` names must be there. */
export interface Inputs {
  /** ConfigMaps by name, in the pod's namespace. */
  readonly configMaps: ReadonlyMap<string, Found<ConfigMapData>>;
  readonly secrets: ReadonlyMap<string, Found<SecretData>>;
  /** Contents of the files of `fileKeyRef`, by `fileKey`; undefined or absent: there is no such file. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Services of the pod's namespace and of `default`; others do not matter. */
  readonly services: Iterable<ServiceAddress>;
  /** The addresses of the pod's sandbox, or of the node with hostNetwork. */
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  /** The node's allocatable resources: `cpu`, `memory`, `ephemeral-storage`… */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** The key of a file in `Inputs.files`. */
export function fileKey(volumeName: string, path: string): string {
  return `${volumeName}/${path}`;
}

/** Why a container cannot be made from its spec. The waiting reason is `CreateContainerConfigError`. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

interface References {
  /** Names in the pod's namespace. */
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
  /** Files in volumes of the pod (`fileKeyRef`). */
  readonly files: readonly { readonly volumeName: string; readonly path: string }[];
}

/** Objects to read before a container can be made: exactly what its environment refers to. */
export function referencesOf({ env = [], envFrom = [] }: Pick<SeenContainer, 'env' | 'envFrom'>): References {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  const files = new Map<string, { volumeName: string; path: string }>();
  for (const { configMapRef, secretRef } of envFrom) {
    if (configMapRef) configMaps.add(configMapRef.name ?? '');
    if (secretRef) secrets.add(secretRef.name ?? '');
  }
  for (const { value, valueFrom } of env) {
    if (value || !valueFrom) continue;
    const { configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
    if (configMapKeyRef) configMaps.add(configMapKeyRef.name ?? '');
    if (secretKeyRef) secrets.add(secretKeyRef.name ?? '');
    if (fileKeyRef) {
      const { volumeName, path } = fileKeyRef;
      files.set(`${volumeName}/${path}`, { volumeName, path });
    }
  }
  return { configMaps: [...configMaps], secrets: [...secrets], files: [...files.values()] };
}
