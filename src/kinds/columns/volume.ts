const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** How a volume may be mounted, in the letters that people know. */
export function accessModesText(modes: readonly string[] = []): string {
  return SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** The storage of a list of resources. */
export function storageText(resources: Readonly<Record<string, string>> | undefined): string {
  return resources?.storage ?? '0';
}

/** The class of a volume or a claim; an annotation was its first place. */
export function storageClassText({ metadata, spec }: any): string {
  return metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
}

/** The state of a volume or a claim. */
export function phaseText({ metadata, status }: any): string {
  return metadata?.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');
}
