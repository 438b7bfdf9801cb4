/** Warnings about files of one volume whose paths overlap. */
import type { PodSpec } from '../shapes/pod/pod-spec.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];
type VolumeProjection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** A path inside a volume, and the source that writes it. */
interface PlacedFile {
  readonly path: string;
  readonly by: VolumeProjection | undefined;
  /** Which file of a source that writes several. */
  readonly part?: string;
}

/** Runs on every write of a pod: allocates nothing for pods without such volumes. */
export function overlapWarnings(volumes: readonly Volume[]): string[] {
  const found: string[] = [];
  for (const volume of volumes) {
    const { configMap, secret, downwardAPI, projected } = volume;
    if (configMap?.items) {
      compare(found, volume, {
        what: `ConfigMap ${JSON.stringify(configMap.name ?? '')}`,
        placed: placedBy(configMap.items),
      });
    } else if (secret?.items) {
      compare(found, volume, {
        what: `Secret ${JSON.stringify(secret.secretName ?? '')}`,
        placed: placedBy(secret.items),
      });
    } else if (downwardAPI?.items) {
      compare(found, volume, { what: 'DownwardAPI', placed: placedBy(downwardAPI.items) });
    } else if (projected?.sources) addProjected(found, volume, projected.sources);
  }
  return found;
}

function addProjected(found: string[], volume: Volume, sources: readonly VolumeProjection[]): void {
  const placed: PlacedFile[] = [];
  for (const source of sources) {
    if (isEmpty(source)) found.push(`volume ${JSON.stringify(volume.name)} (Projected) has no sources provided`);
    else place(placed, source);
  }
  compare(found, volume, { what: 'Projected', placed });
}

function isEmpty(source: VolumeProjection): boolean {
  for (const _ in source) return false;
  return true;
}

function placedBy(items: readonly { readonly path: string }[]): PlacedFile[] {
  return items.map(({ path }) => ({ path, by: undefined }));
}

function place(placed: PlacedFile[], by: VolumeProjection): void {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = by;
  const items = configMap?.items ?? secret?.items ?? downwardAPI?.items;
  if (items) for (const { path } of items) placed.push({ path, by });
  else if (serviceAccountToken) placed.push({ path: serviceAccountToken.path, by });
  else if (clusterTrustBundle) placed.push({ path: clusterTrustBundle.path, by });
  else if (podCertificate) {
    const { certificateChainPath, keyPath, credentialBundlePath } = podCertificate;
    placed.push({ path: certificateChainPath ?? '', by, part: 'chain' });
    placed.push({ path: keyPath ?? '', by, part: 'key' });
    placed.push({ path: credentialBundlePath ?? '', by, part: 'credential bundle' });
  }
}

/** Further paths of a volume are not compared: the comparison is quadratic. */
const MAX_COMPARED_PATHS = 500;

function compare(
  found: string[],
  { name }: Volume,
  { what, placed }: { readonly what: string; readonly placed: readonly PlacedFile[] },
): void {
  const count = Math.min(placed.length, MAX_COMPARED_PATHS);
  for (let i = 1; i < count; i++) {
    const here = withoutSlashes(placed[i]!.path);
    if (!here) continue;
    for (let j = 0; j < i; j++) {
      const other = withoutSlashes(placed[j]!.path);
      if (!other || !(isWithin(other, here) || isWithin(here, other))) continue;
      const paths = `${shown(here, placed[i]!)} with ${shown(other, placed[j]!)}`;
      found.push(`volume ${JSON.stringify(name)} (${what}): overlapping paths: ${paths}`);
    }
  }
}

function withoutSlashes(path: string): string {
  return path.endsWith('/') ? path.replace(/\/+$/, '') : path;
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}

function shown(path: string, { by, part }: PlacedFile): string {
  return by ? `${JSON.stringify(path)} (${sourceOf(by, part)})` : JSON.stringify(path);
}

function sourceOf(
  { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle }: VolumeProjection,
  part = '',
): string {
  if (configMap?.items) return `ConfigMap ${JSON.stringify(configMap.name ?? '')}`;
  if (secret?.items) return `Secret ${JSON.stringify(secret.name ?? '')}`;
  if (downwardAPI?.items) return 'DownwardAPI';
  if (serviceAccountToken) return 'ServiceAccountToken';
  if (!clusterTrustBundle) return `PodCertificate ${part}`;
  const { name, signerName = '' } = clusterTrustBundle;
  return `ClusterTrustBundle ${JSON.stringify(name ?? signerName)}`;
}
