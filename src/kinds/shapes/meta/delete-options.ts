/** How a delete is to go: the body of a delete, and part of an eviction. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';

const policies = ['Foreground', 'Background', 'Orphan'];

const options = {
  kind: s.string(),
  apiVersion: s.string(),
  gracePeriodSeconds: s.int64({ min: 0, description: 'How long the object may live on; 0 ends it at once.' }),
  preconditions: s.object(
    'Preconditions',
    { uid: s.string(), resourceVersion: s.string() },
    { description: 'What must hold for the object, or nothing is deleted.' },
  ),
  orphanDependents: s.boolean({ description: 'The old form of propagationPolicy: true is Orphan.' }),
  propagationPolicy: s.string({
    description: 'What becomes of dependents: Orphan leaves them, Background and Foreground delete them.',
  }),
  dryRun: s.list(s.string(), { description: 'All: nothing is changed, only checked.', rules: [dryRun] }),
  ignoreStoreReadErrorWithClusterBreakingPotential: s.boolean(),
};
export type DeleteOptions = ObjectType<typeof options>;

export const DeleteOptions = s.object('DeleteOptions', options, { rules: [propagation, nothingElse] });

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

/** An object that cannot be read is deleted as it is, or not at all. */
function nothingElse(value: DeleteOptions): FieldError[] {
  const field = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  if (!value[field]) return [];
  return otherOptions
    .filter((other) => value[other] !== undefined)
    .map((other) => invalid(field, true, `cannot be set together with .${other}`));
}
