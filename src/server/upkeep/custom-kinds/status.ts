/** Decides the status of a definition. */
import { deepEqual } from '../../../base/json/tree.ts';
import {
  hasCondition,
  type NewCondition,
  withCondition,
} from '../../../kinds/groups/extension/apiextensions/conditions.ts';
import type { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import { decideNames, type TakenNames } from './names.ts';

type Status = CustomResourceDefinition['status'];

const ESTABLISHED: NewCondition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};

const NOT_ACCEPTED: NewCondition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};

/** Returns the status of a definition, given the names of others. A kind that was once established stays so. */
export function decideStatus(definition: CustomResourceDefinition, taken: TakenNames, now: string): Status {
  const { spec, status } = definition;
  const { names, condition } = decideNames(spec.names, status.acceptedNames, taken);
  const isEstablished = hasCondition(definition, 'Established') || condition.status === 'True';
  let conditions = withCondition(status.conditions, condition, now);
  if (!hasCondition(definition, 'Established')) {
    conditions = withCondition(conditions, isEstablished ? ESTABLISHED : NOT_ACCEPTED, now);
  }
  const next = { ...status, acceptedNames: names, conditions };
  return deepEqual(next, status) ? status : next;
}

/** Reports whether the kind of the definition is served. */
export function isServed(status: Status): boolean {
  return status.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false;
}

/** Reports whether there is nothing left to decide: all names are accepted, and the definition is not being deleted. */
export function isSettled(definition: CustomResourceDefinition): boolean {
  const { metadata, spec, status } = definition;
  if (metadata.deletionTimestamp !== undefined || !isServed(status)) return false;
  return hasCondition(definition, 'NamesAccepted') && deepEqual(spec.names, status.acceptedNames);
}
