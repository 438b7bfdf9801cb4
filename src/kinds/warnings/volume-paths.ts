/** Files of one volume that stand in each other's way. */
import type { PodSpec } from '../shapes/pod-spec.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];
type VolumeProjection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** A path inside a volume, and what puts a file there. */
interface Placed {
  readonly path: string;
  readonly source: string;
}

export function overlapWarnings(volumes: readonly Volume[]): string[] {
  return volumes.flatMap((volume) => {
    const { name, configMap, secret, downwardAPI, projected } = volume;
    const told = (what: string, placed: readonly Placed[]) =>
      overlaps(placed).map((text) => `volume ${JSON.stringify(name)} (${what}): overlapping paths: ${text}`);
    if (configMap?.items) return told(`ConfigMap ${JSON.stringify(configMap.name ?? '')}`, placedBy(configMap.items));
    if (secret?.items) return told(`Secret ${JSON.stringify(secret.secretName ?? '')}`, placedBy(secret.items));
    if (downwardAPI?.items) return told('DownwardAPI', placedBy(downwardAPI.items));
    if (!projected) return [];
    const sources = projected.sources ?? [];
    const empty = sources.filter((source) => Object.keys(source).length === 0);
    return [
      ...empty.map(() => `volume ${JSON.stringify(name)} (Projected) has no sources provided`),
      ...told('Projected', sources.flatMap(placedBySource)),
    ];
  });
}

function placedBy(items: readonly { readonly path: string }[], source = ''): Placed[] {
  return items.map(({ path }) => ({ path, source }));
}

function placedBySource(source: VolumeProjection): Placed[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (configMap?.items) return placedBy(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items) return placedBy(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items) return placedBy(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return placedBy([serviceAccountToken], 'ServiceAccountToken');
  if (clusterTrustBundle) {
    const { name, signerName = '' } = clusterTrustBundle;
    return placedBy([clusterTrustBundle], `ClusterTrustBundle ${JSON.stringify(name ?? signerName)}`);
  }
  if (!podCertificate) return [];
  return [
    { path: podCertificate.certificateChainPath ?? '', source: 'PodCertificate chain' },
    { path: podCertificate.keyPath ?? '', source: 'PodCertificate key' },
    { path: podCertificate.credentialBundlePath ?? '', source: 'PodCertificate credential bundle' },
  ];
}

/** More paths of one volume are not compared with each other. */
const MOST = 500;

function overlaps(placed: readonly Placed[]): string[] {
  const found: string[] = [];
  const before: Placed[] = [];
  for (const { path, source } of placed.slice(0, MOST)) {
    const here = { path: path.replace(/\/+$/, ''), source };
    if (!here.path) continue;
    for (const other of before) {
      if (isWithin(other.path, here.path) || isWithin(here.path, other.path)) {
        found.push(`${shown(here)} with ${shown(other)}`);
      }
    }
    before.push(here);
  }
  return found;
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}

function shown({ path, source }: Placed): string {
  return source ? `${JSON.stringify(path)} (${source})` : JSON.stringify(path);
}
