import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { name, text, UNSET } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { nodeSelectorWarnings } from '../../warnings/node-labels.ts';

const fields = {
  nodeTopology: s.use(LabelSelector, {
    immutable: true,
    description: 'The nodes that can reach the storage; without it, none can. Cannot be changed.',
  }),
  storageClassName: s.string({
    zero: true,
    immutable: true,
    description: 'The class that the volumes would be of. Cannot be changed.',
  }),
  capacity: s.quantity({ description: 'How much is left, as far as the driver can tell.', rules: [notNegative] }),
  maximumVolumeSize: s.quantity({ description: 'The largest volume that the driver would make.' }),
};

export type CSIStorageCapacity = KubeObject & ObjectType<typeof fields>;

/** How much storage is left somewhere. */
export const CSIStorageCapacity = defineKind({
  group: 'storage.k8s.io',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  description: 'How much storage of a class is left for some nodes, as a driver reports it for the scheduler.',
  versions: { 'storage.k8s.io/v1': {} },
  fields,
  requiresVersion: true,
  rules: [namesClass],
  warnings: ({ nodeTopology }: CSIStorageCapacity) => nodeSelectorWarnings('nodeTopology', nodeTopology),
  columns: [
    name,
    text('StorageClassName', 'The class of the volumes.', ({ storageClassName }) => storageClassName ?? ''),
    text('Capacity', 'How much room is left for them.', ({ capacity }) => capacity ?? UNSET),
  ],
});

function notNegative(amount: string): FieldError | undefined {
  return amount.startsWith('-') ? invalid('', amount, 'must be greater than or equal to 0') : undefined;
}

function namesClass({ storageClassName: name }: CSIStorageCapacity): FieldError[] {
  return dnsSubdomain(name).map((complaint) => invalid('storageClassName', name, complaint));
}
