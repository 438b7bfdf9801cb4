/** Objects that a pod refers to, as plain values. */

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
