import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { Status } from './status.ts';

const OwnerReference = s.object(
  'OwnerReference',
  {
    apiVersion: s.string({ zero: true }),
    kind: s.string({ zero: true }),
    name: s.string({ zero: true }),
    uid: s.string({ zero: true }),
    controller: s.boolean(),
    blockOwnerDeletion: s.boolean(),
  },
  { atomic: true },
);

const ManagedFieldsEntry = s.object('ManagedFieldsEntry', {
  manager: s.string(),
  operation: s.string(),
  apiVersion: s.string(),
  time: s.time(),
  fieldsType: s.string(),
  fieldsV1: s.any(),
  subresource: s.string(),
});

const Initializers = s.object('Initializers', {
  pending: s.list(s.object('Initializer', { name: s.string({ zero: true }) })),
  result: Status,
});

/** What every object carries besides its own fields. */
export const ObjectMeta = s.object('ObjectMeta', {
  name: s.string({ description: 'Names the object; unique among its kind in its namespace. Cannot be changed.' }),
  generateName: s.string({ description: 'Without a name, the server makes one from this beginning.' }),
  namespace: s.string({ description: 'The namespace the object lives in; a name is unique only within it.' }),
  selfLink: s.string({ description: 'The path of the object in the version it was read in.' }),
  uid: s.string({ description: 'Tells this object from every other that ever had its name.' }),
  resourceVersion: s.string({
    description: 'Changes with every write of the object. Sent back in a replace, it makes the write safe.',
  }),
  generation: s.int64({ description: 'Counts the changes of the desired state.' }),
  creationTimestamp: s.time({ description: 'When the server stored the object first.' }),
  deletionTimestamp: s.time({ description: 'Set once deletion was asked for: when the object is due to be gone.' }),
  deletionGracePeriodSeconds: s.int64(),
  labels: s.map(s.string(), { description: 'Names and values by which selectors find objects.' }),
  annotations: s.map(s.string(), { description: 'Anything that tools want to keep with an object.' }),
  ownerReferences: s.listMap(OwnerReference, { keys: ['uid'] }),
  finalizers: s.set(s.string(), { merge: true, description: 'Each must be removed before the object goes.' }),
  initializers: Initializers,
  clusterName: s.string(),
  managedFields: s.list(ManagedFieldsEntry),
});
export type ObjectMeta = TypeOf<typeof ObjectMeta>;
