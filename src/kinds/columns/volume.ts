import type { ObjectMeta } from '../shapes/meta/object-meta.ts';
import type { Sparse } from './column.ts';

/** Fields that volumes and claims have in common. */
interface Storage {
  metadata: ObjectMeta;
  spec: { storageClassName?: string };
  status: { phase?: string };
}

const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** The access modes of a volume in their usual abbreviations. */
export function accessModesText(modes: readonly string[] = []): string {
  return SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** The storage of a list of resources. */
export function storageText(resources: Readonly<Record<string, string>> | undefined): string {
  return resources?.storage ?? '0';
}

/** The class of a volume or a claim; the annotation is older than the field. */
export function storageClassText({ metadata, spec }: Sparse<Storage>): string {
  return metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
}

/** The state of a volume or a claim. */
export function phaseText({ metadata, status }: Sparse<Storage>): string {
  return metadata?.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');
}
