/** Objects to read before a container can be made: exactly what its environment refers to. */
import type { SeenContainer } from '../pod/container-run.ts';

export interface References {
  /** Names in the pod's namespace. */
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
  /** Files in volumes of the pod (`fileKeyRef`). */
  readonly files: readonly { readonly volumeName: string; readonly path: string }[];
}

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
