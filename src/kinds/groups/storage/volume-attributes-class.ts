import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { parameters, provisioner } from './parameters.ts';

const fields = {
  driverName: s.string('Name of the CSI driver that understands the attributes. Required; cannot be changed.', {
    zero: true,
    required: true,
    rules: [provisioner],
  }),
  parameters: s.map(
    s.string(),
    'The attributes, as strings by name; their meaning depends on the driver. At least 1 and at most 512 entries, 256 KiB in total. Cannot be changed.',
    { required: 'must contain at least one key/value pair', pointer: true, rules: [parameters] },
  ),
};

export type VolumeAttributesClass = KubeObject & ObjectType<typeof fields>;

/** Volume attributes that can be changed while a volume is in use. */
export const VolumeAttributesClass = defineKind({
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  short: ['vac'],
  scope: 'Cluster',
  description:
    'A set of volume attributes, such as IOPS or throughput, that the driver can change while a volume is in use. A claim switches to another class by changing volumeAttributesClassName.',
  versions: { 'storage.k8s.io/v1': {} },
  fields,
  rules: [immutableFields],
  columns: ({ text }) => [
    name,
    text('DriverName', 'CSI driver that understands the attributes.', ({ driverName }) => driverName ?? ''),
    age,
  ],
});

function immutableFields(
  now: VolumeAttributesClass,
  { oldRoot: then }: RuleContext<VolumeAttributesClass, VolumeAttributesClass>,
): FieldError[] {
  if (!then) return [];
  return (['driverName', 'parameters'] as const).flatMap((field) =>
    deepEqual(now[field], then[field]) ? [] : [forbidden(field, `updates to ${field} are forbidden.`)],
  );
}
