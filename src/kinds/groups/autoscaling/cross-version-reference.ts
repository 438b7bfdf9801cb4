/** References to objects of the same namespace, by kind and API version. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { pathSegment } from '../../../schema/names.ts';
import type { RuleContext, TypeOf } from '../../../schema/schema.ts';

export const CrossVersionObjectReference = s.object(
  'CrossVersionObjectReference',
  'Names an object in the same namespace, in a version of its API group.',
  {
    kind: s.string('Kind of the referenced object, such as Deployment. Required.', { zero: true }),
    name: s.string('Name of the referenced object. Required.', { zero: true }),
    apiVersion: s.string(
      'API group and version of the referenced object, such as apps/v1. Required for every kind outside the core group.',
      { omitZero: true },
    ),
  },
);
export type CrossVersionObjectReference = TypeOf<typeof CrossVersionObjectReference>;

/** The object to scale. */
export const ScaleTarget = s.use(
  CrossVersionObjectReference,
  'The object to scale: a Deployment, StatefulSet, ReplicaSet, or any other kind with a `scale` subresource, in the same namespace. Its metrics decide how many pods it gets.',
  { zero: true, rules: [kindAndName, apiVersionHasGroup] },
);

/** Checks that a reference has kind and name. */
export function kindAndName(reference: CrossVersionObjectReference): FieldError[] {
  return (['kind', 'name'] as const).flatMap((field) => {
    const text = reference[field];
    return text ? pathSegment(text).map((complaint) => invalid(field, text, complaint)) : [required(field)];
  });
}

/** Requires a group, except for ReplicationController. References stored without one stay valid until they change. */
function apiVersionHasGroup(
  reference: CrossVersionObjectReference,
  { old }: RuleContext<CrossVersionObjectReference>,
): FieldError | undefined {
  const { kind, apiVersion = '' } = reference;
  if (old && old.kind === kind && (old.apiVersion ?? '') === apiVersion) return undefined;
  const grouped = apiVersion.indexOf('/') > 0 || kind === 'ReplicationController';
  return (
    malformedVersion(reference) ??
    (grouped ? undefined : invalid('apiVersion', apiVersion, 'apiVersion must specify API group'))
  );
}

export function malformedVersion({ apiVersion = '' }: CrossVersionObjectReference): FieldError | undefined {
  return apiVersion.split('/').length > 2
    ? invalid('apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
    : undefined;
}
