/** Files of one volume that stand in each other's way. */
import type { PodSpec } from '../shapes/pod/pod-spec.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];
type VolumeProjection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** A path inside a volume, and what puts a file there: told only where it is in somebody's way. */
interface Placed {
  readonly path: string;
  readonly by: VolumeProjection | undefined;
  /** Where that puts several files there by different fields. */
  readonly part?: string;
}

/** Runs for every pod that is written: what has nothing to say makes nothing. */
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
  const placed: Placed[] = [];
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

function placedBy(items: readonly { readonly path: string }[]): Placed[] {
  return items.map(({ path }) => ({ path, by: undefined }));
}

function place(placed: Placed[], by: VolumeProjection): void {
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

/** More paths of one volume are not compared with each other. */
const MOST = 500;

function compare(
  found: string[],
  { name }: Volume,
  { what, placed }: { readonly what: string; readonly placed: readonly Placed[] },
): void {
  const most = Math.min(placed.length, MOST);
  for (let i = 1; i < most; i++) {
    const here = withoutSlashes(placed[i]!.path);
    if (!here) continue;
    for (let j = 0; j < i; j++) {
      const other = withoutSlashes(placed[j]!.path);
      if (!other || !(isWithin(other, here) || isWithin(here, other))) continue;
      const told = `${shown(here, placed[i]!)} with ${shown(other, placed[j]!)}`;
      found.push(`volume ${JSON.stringify(name)} (${what}): overlapping paths: ${told}`);
    }
  }
}

function withoutSlashes(path: string): string {
  return path.endsWith('/') ? path.replace(/\/+$/, '') : path;
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}

function shown(path: string, { by, part }: Placed): string {
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
