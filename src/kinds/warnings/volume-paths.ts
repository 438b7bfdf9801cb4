/** Warnings about files of one volume whose paths overlap. */
import type { PodSpec } from '../shapes/pod/pod-spec.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];
type VolumeProjection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** A path inside a volume, and the source that writes it. */
interface PlacedFile {
  readonly path: string;
  readonly by: VolumeProjection | undefined;
  /** File of a source that writes several. */
  readonly part?: string;
}

/** Runs on every write of a pod: allocates nothing for pods without such volumes. */
export function overlapWarnings(volumes: readonly Volume[]): string[] {
  const found: string[] = [];
  const search: Search = { found, pathsLeft: MAX_COMPARED_PATHS };
  for (const volume of volumes) {
    const { configMap, secret, downwardAPI, projected } = volume;
    if (configMap?.items) {
      compare(search, volume, {
        what: `ConfigMap ${JSON.stringify(configMap.name ?? '')}`,
        placed: placedBy(configMap.items),
      });
    } else if (secret?.items) {
      compare(search, volume, {
        what: `Secret ${JSON.stringify(secret.secretName ?? '')}`,
        placed: placedBy(secret.items),
      });
    } else if (downwardAPI?.items) {
      compare(search, volume, { what: 'DownwardAPI', placed: placedBy(downwardAPI.items) });
    } else if (projected?.sources) addProjected(search, volume, projected.sources);
  }
  return found;
}

function addProjected(search: Search, volume: Volume, sources: readonly VolumeProjection[]): void {
  const placed: PlacedFile[] = [];
  for (const source of sources) {
    if (!isEmpty(source)) place(placed, source);
    else search.found.push(`volume ${JSON.stringify(volume.name)} (Projected) has no sources provided`);
  }
  compare(search, volume, { what: 'Projected', placed });
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

/** Limits for a quadratic comparison, counted over all volumes of a pod; paths beyond them are not compared. */
const MAX_COMPARED_PATHS = 500;
const MAX_WARNINGS = 100;

/** Findings, and the number of paths that may still be compared. */
interface Search {
  readonly found: string[];
  pathsLeft: number;
}

function compare(
  search: Search,
  { name }: Volume,
  { what, placed }: { readonly what: string; readonly placed: readonly PlacedFile[] },
): void {
  const { found } = search;
  const compared = placed.slice(0, search.pathsLeft);
  search.pathsLeft -= compared.length;
  const paths = compared.map(({ path }) => withoutSlashes(path));
  for (let i = 1; i < paths.length; i++) {
    const here = paths[i]!;
    if (!here) continue;
    for (let j = 0; j < i && found.length < MAX_WARNINGS; j++) {
      const other = paths[j]!;
      if (!other || !(isWithin(other, here) || isWithin(here, other))) continue;
      const both = `${shown(here, compared[i]!)} with ${shown(other, compared[j]!)}`;
      found.push(`volume ${JSON.stringify(name)} (${what}): overlapping paths: ${both}`);
    }
  }
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
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
