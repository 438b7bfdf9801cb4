import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { name, UNSET } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { nodeSelectorWarnings } from '../../warnings/node-labels.ts';

const fields = {
  nodeTopology: s.use(
    LabelSelector,
    'Label selector for the nodes that can access the storage. An empty selector matches all nodes; without one, none can. Cannot be changed.',
    { immutable: true },
  ),
  storageClassName: s.string('Name of the StorageClass. Required; cannot be changed.', { zero: true, immutable: true }),
  capacity: s.quantity(
    'Storage that is available, as the driver reports it. Must not be negative. Without it, it is unknown.',
    { rules: [notNegative] },
  ),
  maximumVolumeSize: s.quantity(
    'Size of the largest volume that can be created, where it is less than the capacity. Without it, it is unknown.',
  ),
};

export type CSIStorageCapacity = KubeObject & ObjectType<typeof fields>;

/** Available storage capacity, as a CSI driver reports it. */
export const CSIStorageCapacity = defineKind({
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  description:
    'Reports how much storage of a StorageClass is available in one part of the cluster, so that the scheduler can avoid nodes where a volume would not fit. Written by CSI drivers.',
  versions: { 'storage.k8s.io/v1': {} },
  fields,
  requiresVersion: true,
  rules: [namesClass],
  warnings: ({ nodeTopology }: CSIStorageCapacity) => nodeSelectorWarnings('nodeTopology', nodeTopology),
  columns: ({ text }) => [
    name,
    text('StorageClassName', 'The StorageClass.', ({ storageClassName }) => storageClassName ?? ''),
    text('Capacity', 'Available storage.', ({ capacity }) => capacity ?? UNSET),
  ],
});

function notNegative(amount: string): FieldError | undefined {
  return amount.startsWith('-') ? invalid('', amount, 'must be greater than or equal to 0') : undefined;
}

function namesClass({ storageClassName: name }: CSIStorageCapacity): FieldError[] {
  return dnsSubdomain(name).map((complaint) => invalid('storageClassName', name, complaint));
}
