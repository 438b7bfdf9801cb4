/** Options of a delete: the body of a delete request, and part of an eviction. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';

const policies = ['Foreground', 'Background', 'Orphan'];

const options = {
  kind: s.string('Always DeleteOptions.'),
  apiVersion: s.string('API group and version of the options, such as v1.'),
  gracePeriodSeconds: s.int64(
    'Seconds until the object is removed; 0 removes it immediately. Defaults to the grace period of the ' +
      'object itself, such as terminationGracePeriodSeconds of a pod.',
    { min: 0 },
  ),
  preconditions: s.object('Preconditions', 'Conditions that an object must meet for the delete to go ahead.', {
    uid: s.string('UID that the object must have.'),
    resourceVersion: s.string('Resource version that the object must have.'),
  }),
  orphanDependents: s.boolean(
    'Whether dependents are kept (true) or deleted (false). Deprecated: use propagationPolicy. Only one of ' +
      'the two may be set.',
  ),
  propagationPolicy: s.string(
    'Handling of dependents: Orphan keeps them, Background deletes them after the object, Foreground deletes ' +
      'them before it. The default depends on the kind.',
  ),
  dryRun: s.list(
    s.string(),
    'Stages to run without storing anything. The only value is All: the request is fully checked, but ' +
      'nothing is deleted.',
    { rules: [dryRun] },
  ),
  ignoreStoreReadErrorWithClusterBreakingPotential: s.boolean(
    'Deletes an object that cannot be read from the store, such as one that cannot be decrypted, without ' +
      'grace period, finalizers or preconditions. Cannot be combined with other options. Use as a last resort.',
  ),
};
export type DeleteOptions = ObjectType<typeof options>;

export const DeleteOptions = s.object('DeleteOptions', 'Options of a delete request.', options, {
  rules: [propagation, excludesOtherOptions],
});

function dryRun(stages: readonly string[]): FieldError | undefined {
  return stages.every((stage) => stage === 'All') ? undefined : notSupported('', stages, ['All']);
}

function propagation({ orphanDependents, propagationPolicy: policy }: DeleteOptions): FieldError[] {
  if (policy === undefined) return [];
  const found: FieldError[] = [];
  if (orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    found.push(invalid('propagationPolicy', policy, detail));
  }
  if (!policies.includes(policy)) found.push(notSupported('propagationPolicy', policy, [...policies, 'nil']));
  return found;
}

const otherOptions = [
  'dryRun',
  'propagationPolicy',
  'orphanDependents',
  'gracePeriodSeconds',
  'preconditions',
] as const;

/** An object that cannot be read is deleted without other options. */
function excludesOtherOptions(value: DeleteOptions): FieldError[] {
  const field = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  if (!value[field]) return [];
  return otherOptions
    .filter((other) => value[other] !== undefined)
    .map((other) => invalid(field, true, `cannot be set together with .${other}`));
}
