import { s } from '../../../schema/builders.ts';
import { age, nameAndDefault, text } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { nodeLabelWarning } from '../../warnings/node-labels.ts';
import { parameters, provisioner } from './parameters.ts';
import { differentTerms, TopologySelectorTerm } from './topology-terms.ts';

/** A sort of storage that claims can ask for. */
export const StorageClass = defineKind({
  group: 'storage.k8s.io',
  kind: 'StorageClass',
  plural: 'storageclasses',
  short: ['sc'],
  scope: 'Cluster',
  description: 'A sort of storage: who makes volumes for the claims that ask for it, and how.',
  versions: { 'storage.k8s.io/v1': {} },
  fields: {
    provisioner: s.string({
      zero: true,
      required: true,
      immutable: true,
      description: 'Who makes the volumes. Cannot be changed.',
      rules: [provisioner],
    }),
    parameters: s.map(s.string(), {
      immutable: true,
      description: 'Settings that only the provisioner understands. Cannot be changed.',
      rules: [parameters],
    }),
    reclaimPolicy: s.enum(['Delete', 'Retain'], {
      default: 'Delete',
      immutable: true,
      description: 'What becomes of a volume when its claim is gone. Cannot be changed.',
    }),
    mountOptions: s.list(s.string(), { description: 'Given to the mount of every volume, unchecked.' }),
    allowVolumeExpansion: s.boolean({ description: 'Its claims may grow.' }),
    volumeBindingMode: s.enum(['Immediate', 'WaitForFirstConsumer'], {
      default: 'Immediate',
      immutable: true,
      description:
        'Whether a volume is made at once, or when a pod that uses it has a node, so that it is made where the pod is. Cannot be changed.',
    }),
    allowedTopologies: s.list(TopologySelectorTerm, {
      description: 'Where volumes may be made: on nodes for which one of these holds.',
      rules: [differentTerms],
    }),
  },
  warnings: topologyWarnings,
  columns: [
    nameAndDefault('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
    text('Provisioner', 'Who makes the volumes.', ({ provisioner }) => provisioner ?? ''),
    text('ReclaimPolicy', 'What becomes of them after their claims.', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
    text('VolumeBindingMode', 'When they are made.', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    text('AllowVolumeExpansion', 'Whether they can grow.', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
    age,
  ],
});
export type StorageClass = ObjectOf<typeof StorageClass>;

function topologyWarnings({ allowedTopologies = [] }: any): string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }: any, index: number) =>
    matchLabelExpressions.flatMap(({ key }: any, position: number) => {
      const words = nodeLabelWarning(key);
      return words ? [`allowedTopologies[${index}].matchLabelExpressions[${position}].key: ${words}`] : [];
    }),
  );
}
