/** An object of the same namespace, in a version that may have changed since. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { pathSegment } from '../../../schema/names.ts';
import type { RuleContext, TypeOf } from '../../../schema/schema.ts';

export const CrossVersionObjectReference = s.object('CrossVersionObjectReference', {
  kind: s.string({ zero: true }),
  name: s.string({ zero: true }),
  apiVersion: s.string({ omitZero: true }),
});
export type CrossVersionObjectReference = TypeOf<typeof CrossVersionObjectReference>;

/** What is scaled. */
export const ScaleTarget = s.use(CrossVersionObjectReference, {
  zero: true,
  rules: [namesObject, namesGroup],
  description: 'The object that is scaled.',
});

/** On a reference: what every one must say. */
export function namesObject(reference: CrossVersionObjectReference): FieldError[] {
  return (['kind', 'name'] as const).flatMap((field) => {
    const text = reference[field];
    return text ? pathSegment(text).map((complaint) => invalid(field, text, complaint)) : [required(field)];
  });
}

/** Only a ReplicationController has no group. What was stored without one stays as long as it is not touched. */
function namesGroup(
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
