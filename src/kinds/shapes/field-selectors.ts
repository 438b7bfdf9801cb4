/** Values that a pod takes from its own object: fields, and the resources of its containers. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

export const ObjectFieldSelector = s.object(
  'ObjectFieldSelector',
  { apiVersion: s.string({ default: 'v1' }), fieldPath: s.string({ required: true }) },
  { atomic: true },
);
export type ObjectFieldSelector = TypeOf<typeof ObjectFieldSelector>;

export const ResourceFieldSelector = s.object(
  'ResourceFieldSelector',
  {
    containerName: s.string(),
    resource: s.string({ required: true }),
    divisor: s.quantity({ default: '0' }),
  },
  { atomic: true },
);
export type ResourceFieldSelector = TypeOf<typeof ResourceFieldSelector>;
