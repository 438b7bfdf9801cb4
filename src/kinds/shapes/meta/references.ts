/** References from one object to another. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';

export const LocalObjectReference = s.object(
  'LocalObjectReference',
  { name: s.string({ omitZero: true, description: 'Name of the referenced object.' }) },
  {
    atomic: true,
    description: 'Reference by name to an object in the same namespace. The field that holds it determines the kind.',
  },
);
export type LocalObjectReference = TypeOf<typeof LocalObjectReference>;

export const ObjectReference = s.object(
  'ObjectReference',
  {
    kind: s.string({ omitZero: true, description: 'Kind of the referenced object, such as Pod.' }),
    namespace: s.string({
      omitZero: true,
      description: 'Namespace of the referenced object; empty for a cluster-scoped one.',
    }),
    name: s.string({ omitZero: true, description: 'Name of the referenced object.' }),
    uid: s.string({ omitZero: true, description: 'UID of the referenced object.' }),
    apiVersion: s.string({
      omitZero: true,
      description: 'API group and version of the referenced object, such as v1.',
    }),
    resourceVersion: s.string({
      omitZero: true,
      description: 'Version of the referenced object that the reference was made from.',
    }),
    fieldPath: s.string({
      omitZero: true,
      description:
        'Part of the object that is referred to, such as spec.containers{nginx}. Empty for the whole object.',
    }),
  },
  { atomic: true, description: 'Reference to an object of any kind, or to a part of it.' },
);
export type ObjectReference = TypeOf<typeof ObjectReference>;

export const SecretReference = s.object(
  'SecretReference',
  {
    name: s.string({ omitZero: true, description: 'Name of the Secret, unique within its namespace.' }),
    namespace: s.string({ omitZero: true, description: 'Namespace of the Secret.' }),
  },
  { atomic: true, description: 'Reference to a Secret in any namespace.' },
);
export type SecretReference = TypeOf<typeof SecretReference>;

export const TypedLocalObjectReference = s.object(
  'TypedLocalObjectReference',
  {
    apiGroup: s.string({ description: 'API group of the referenced object. Empty for the core group.' }),
    kind: s.string({ zero: true, description: 'Kind of the referenced object.' }),
    name: s.string({ zero: true, description: 'Name of the referenced object.' }),
  },
  { atomic: true, description: 'Reference to an object of any kind in the same namespace.' },
);

export const TypedObjectReference = s.object(
  'TypedObjectReference',
  {
    apiGroup: s.string({ description: 'API group of the referenced object. Empty for the core group.' }),
    kind: s.string({ zero: true, description: 'Kind of the referenced object.' }),
    name: s.string({ zero: true, description: 'Name of the referenced object.' }),
    namespace: s.string({
      description:
        'Namespace of the referenced object. Defaults to the namespace of the object that holds the reference; ' +
        'another one must allow the reference through a ReferenceGrant.',
    }),
  },
  { description: 'Reference to an object of any kind, possibly in another namespace.' },
);
