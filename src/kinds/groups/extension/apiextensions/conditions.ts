/** The conditions of a custom resource definition. */
import type { CustomResourceDefinition } from './definition-fields.ts';

/** Holds a definition until all objects of its kind are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export type DefinitionCondition = NonNullable<CustomResourceDefinition['status']['conditions']>[number];

type Status = 'True' | 'False';

export interface NewCondition {
  readonly type: 'NamesAccepted' | 'Established' | 'Terminating' | 'NonStructuralSchema';
  readonly status: Status;
  readonly reason: string;
  readonly message: string;
}

type Conditioned = Pick<CustomResourceDefinition, 'status'>;

export function hasCondition({ status }: Conditioned, type: NewCondition['type']): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
}

/** The conditions with one set; `now` is its time where the status is another one than before. */
export function withCondition(
  conditions: readonly DefinitionCondition[] = [],
  condition: NewCondition,
  now: string,
): DefinitionCondition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined;
  const next = { ...condition, lastTransitionTime: isSame ? before.lastTransitionTime! : now };
  const { type, status, lastTransitionTime, reason, message } = next;
  const ordered = { type, status, lastTransitionTime, reason, message };
  return before ? conditions.map((each) => (each === before ? ordered : each)) : [...conditions, ordered];
}

/** Marks a definition that is deleted: its objects go first. */
export function beginTermination(definition: CustomResourceDefinition): void {
  const { metadata, status } = definition;
  const { finalizers = [] } = metadata;
  if (hasCondition(definition, 'Terminating')) return;
  if (!finalizers.includes(CLEANUP_FINALIZER)) metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  const pending: NewCondition = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  const conditions = withCondition(status.conditions, pending, metadata.deletionTimestamp ?? '');
  definition.status = { ...status, conditions };
}
