import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { unique } from '../../../schema/rules.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { age, nameAndDefault } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { nodeLabelWarning } from '../../warnings/node-labels.ts';
import { parameters, provisioner } from './parameters.ts';

const TopologySelectorLabelRequirement = s.object(
  'TopologySelectorLabelRequirement',
  'Requires a node label to have one of the given values.',
  {
    key: s.string('Key of the node label. Required.', { zero: true }),
    values: s.list(s.string(), 'Values of the label; one of them must match. At least one is required.', {
      required: true,
      rules: [unique()],
    }),
  },
  { rules: [({ key }: { key: string }) => qualifiedName(key).map((complaint) => invalid('key', key, complaint))] },
);

const TopologySelectorTerm = s.object(
  'TopologySelectorTerm',
  'A part of the cluster, by node labels.',
  {
    matchLabelExpressions: s.list(
      TopologySelectorLabelRequirement,
      'Requirements on node labels, all of which must hold.',
      { rules: [unique('key')] },
    ),
  },
  { atomic: true },
);

type TopologySelectorTerm = TypeOf<typeof TopologySelectorTerm>;

/** A class of storage that claims can request. */
export const StorageClass = defineKind({
  kind: 'StorageClass',
  plural: 'storageclasses',
  short: ['sc'],
  scope: 'Cluster',
  description:
    'A class of storage that PersistentVolumeClaims can request by name: which provisioner creates the volumes, and with which settings. The class annotated with storageclass.kubernetes.io/is-default-class is used for claims that name none.',
  versions: { 'storage.k8s.io/v1': {} },
  fields: {
    provisioner: s.string(
      'Name of the provisioner that creates the volumes, usually a CSI driver. Required; cannot be changed.',
      { zero: true, required: true, immutable: true, rules: [provisioner] },
    ),
    parameters: s.map(
      s.string(),
      'Settings for the provisioner, as strings by name; their meaning depends on it. At most 512 entries and 256 KiB. Cannot be changed.',
      { immutable: true, rules: [parameters] },
    ),
    reclaimPolicy: s.enum(
      ['Delete', 'Retain'],
      'What happens to a volume when its claim is deleted: `Delete` removes it and its data, `Retain` keeps it. Defaults to Delete; cannot be changed.',
      { default: 'Delete', immutable: true },
    ),
    mountOptions: s.list(
      s.string(),
      'Options for mounting the volumes of the class, such as ro or soft. Not checked: an invalid one makes the mount fail.',
    ),
    allowVolumeExpansion: s.boolean('Whether claims of the class can be enlarged after creation. Defaults to false.'),
    volumeBindingMode: s.enum(
      ['Immediate', 'WaitForFirstConsumer'],
      '`Immediate` creates and binds volumes as soon as a claim exists; `WaitForFirstConsumer` waits for a pod that uses the claim, so that the volume is created where the pod can run. Defaults to Immediate; cannot be changed.',
      { default: 'Immediate', immutable: true },
    ),
    allowedTopologies: s.list(
      TopologySelectorTerm,
      'Where volumes may be created: on nodes that match at least one of these terms. Without any, everywhere.',
      { rules: [distinctTerms] },
    ),
  },
  warnings: topologyWarnings,
  columns: ({ text }) => [
    nameAndDefault('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
    text('Provisioner', 'Provisioner of the volumes.', ({ provisioner }) => provisioner ?? ''),
    text(
      'ReclaimPolicy',
      'What happens to a volume when its claim is deleted.',
      ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    ),
    text(
      'VolumeBindingMode',
      'When volumes are created and bound.',
      ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
    ),
    text(
      'AllowVolumeExpansion',
      'Whether volumes can be enlarged.',
      ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    ),
    age,
  ],
});
export type StorageClass = ObjectOf<typeof StorageClass>;

function topologyWarnings({ allowedTopologies = [] }: { allowedTopologies?: TopologySelectorTerm[] }): string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key }, position) => {
      const words = nodeLabelWarning(key);
      return words ? [`allowedTopologies[${index}].matchLabelExpressions[${position}].key: ${words}`] : [];
    }),
  );
}

/** Checks that no term of a list is empty or equivalent to another. */
function distinctTerms(terms: readonly TopologySelectorTerm[]): FieldError[] {
  const seen = new Set<string>(['']);
  return terms.flatMap((term, index) => {
    const canonical = canonicalText(term);
    if (seen.has(canonical)) return [duplicate(`[${index}].matchLabelExpressions`, '')];
    seen.add(canonical);
    return [];
  });
}

/** A key that is equal for terms that differ only in order. */
function canonicalText({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  return matchLabelExpressions
    .map(({ key, values = [] }) => JSON.stringify([key, ...new Set([...values].sort())]))
    .sort()
    .join();
}
