/** How objects point at each other. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';

const text = s.string({ omitZero: true });

/** Something in the same namespace, whose kind the place of the reference implies. */
export const LocalObjectReference = s.object('LocalObjectReference', { name: text }, { atomic: true });
export type LocalObjectReference = TypeOf<typeof LocalObjectReference>;

/** Any object, or a part of it. */
export const ObjectReference = s.object(
  'ObjectReference',
  {
    kind: text,
    namespace: text,
    name: text,
    uid: text,
    apiVersion: text,
    resourceVersion: text,
    fieldPath: text,
  },
  { atomic: true },
);
export type ObjectReference = TypeOf<typeof ObjectReference>;

/** A Secret in a namespace of its own choice. */
export const SecretReference = s.object('SecretReference', { name: text, namespace: text }, { atomic: true });
export type SecretReference = TypeOf<typeof SecretReference>;

/** An object of any kind in the same namespace. */
export const TypedLocalObjectReference = s.object(
  'TypedLocalObjectReference',
  { apiGroup: s.string(), kind: s.string({ zero: true }), name: s.string({ zero: true }) },
  { atomic: true },
);

/** An object of any kind in any namespace. */
export const TypedObjectReference = s.object('TypedObjectReference', {
  apiGroup: s.string(),
  kind: s.string({ zero: true }),
  name: s.string({ zero: true }),
  namespace: s.string(),
});
