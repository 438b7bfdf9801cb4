/** Amounts of compute and storage that something asks for and may not exceed. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

/** Amounts by resource name, such as `cpu`, `memory` or `example.com/gpu`. */
export const ResourceList = s.map(s.quantity());
export type ResourceList = TypeOf<typeof ResourceList>;

const ResourceClaim = s.object('ResourceClaim', {
  name: s.string({ required: true }),
  request: s.string(),
});

export const ResourceRequirements = s.object('ResourceRequirements', {
  limits: s.use(ResourceList, { description: 'The most that may be used.' }),
  requests: s.use(ResourceList, { description: 'What is set aside; where absent, the limits count.' }),
  claims: s.listMap(ResourceClaim, { keys: ['name'], merge: undefined }),
});
export type ResourceRequirements = TypeOf<typeof ResourceRequirements>;

export const VolumeResourceRequirements = s.object('VolumeResourceRequirements', {
  limits: ResourceList,
  requests: ResourceList,
});
