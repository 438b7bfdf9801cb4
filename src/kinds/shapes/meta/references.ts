/** References from one object to another. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';

export const LocalObjectReference = s.object(
  'LocalObjectReference',
  'Reference by name to an object in the same namespace. The field that holds it determines the kind.',
  { name: s.string('Name of the referenced object.', { omitZero: true }) },
  { atomic: true },
);
export type LocalObjectReference = TypeOf<typeof LocalObjectReference>;

export const ObjectReference = s.object(
  'ObjectReference',
  'Reference to an object of any kind, or to a part of it.',
  {
    kind: s.string('Kind of the referenced object, such as Pod.', { omitZero: true }),
    namespace: s.string('Namespace of the referenced object; empty for a cluster-scoped one.', { omitZero: true }),
    name: s.string('Name of the referenced object.', { omitZero: true }),
    uid: s.string('UID of the referenced object.', { omitZero: true }),
    apiVersion: s.string('API group and version of the referenced object, such as v1.', { omitZero: true }),
    resourceVersion: s.string('Version of the referenced object that the reference was made from.', { omitZero: true }),
    fieldPath: s.string(
      'Part of the object that is referred to, such as spec.containers{nginx}. Empty for the whole object.',
      { omitZero: true },
    ),
  },
  { atomic: true },
);
export type ObjectReference = TypeOf<typeof ObjectReference>;

export const SecretReference = s.object(
  'SecretReference',
  'Reference to a Secret in any namespace.',
  {
    name: s.string('Name of the Secret, unique within its namespace.', { omitZero: true }),
    namespace: s.string('Namespace of the Secret.', { omitZero: true }),
  },
  { atomic: true },
);
export type SecretReference = TypeOf<typeof SecretReference>;

export const TypedLocalObjectReference = s.object(
  'TypedLocalObjectReference',
  'Reference to an object of any kind in the same namespace.',
  {
    apiGroup: s.string('API group of the referenced object. Empty for the core group.'),
    kind: s.string('Kind of the referenced object.', { zero: true }),
    name: s.string('Name of the referenced object.', { zero: true }),
  },
  { atomic: true },
);

export const TypedObjectReference = s.object(
  'TypedObjectReference',
  'Reference to an object of any kind, possibly in another namespace.',
  {
    apiGroup: s.string('API group of the referenced object. Empty for the core group.'),
    kind: s.string('Kind of the referenced object.', { zero: true }),
    name: s.string('Name of the referenced object.', { zero: true }),
    namespace: s.string(
      'Namespace of the referenced object. Defaults to the namespace of the object that holds the reference; ' +
        'another one must allow the reference through a ReferenceGrant.',
    ),
  },
);
