import type { Handle } from '../../../api/call.ts';
import { isApiError } from '../../../api/errors.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import {
  CLEANUP_FINALIZER,
  hasCondition,
  type NewCondition,
  withCondition,
} from '../../../kinds/groups/extension/apiextensions/conditions.ts';
import type { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Table } from '../../objects/cache/table.ts';
import { SERVER_USER } from '../../objects/server-user.ts';
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

export function isServed(status: Status): boolean {
  return status.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false;
}

/** Reports whether there is nothing left to decide: all names are accepted, and the definition is not being deleted. */
export function isSettled(definition: CustomResourceDefinition): boolean {
  const { metadata, spec, status } = definition;
  if (metadata.deletionTimestamp !== undefined || !isServed(status)) return false;
  return hasCondition(definition, 'NamesAccepted') && deepEqual(spec.names, status.acceptedNames);
}

const terminating = (status: 'True' | 'False', reason: string, message: string): NewCondition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const IN_PROGRESS = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const COMPLETED = terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
const NEVER = terminating('False', 'NeverEstablished', 'resource was never established');

/** Reports whether a definition waits for its objects to be deleted. */
export function needsCleanup({ metadata }: CustomResourceDefinition): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(CLEANUP_FINALIZER) ?? false);
}

/** Returns the definition with a condition that its objects are being deleted; undefined when it has that already. */
export function markedInProgress(definition: CustomResourceDefinition, now: string) {
  const { status } = definition;
  if (status.conditions?.some(({ reason }) => reason === IN_PROGRESS.reason)) return undefined;
  return { ...definition, status: { ...status, conditions: withCondition(status.conditions, IN_PROGRESS, now) } };
}

/** Returns the definition without the finalizer: writing it removes the definition. */
export function released(definition: CustomResourceDefinition, wasEstablished: boolean, now: string) {
  const { metadata, status } = definition;
  const finalizers = metadata.finalizers?.filter((name) => name !== CLEANUP_FINALIZER) ?? [];
  const conditions = withCondition(status.conditions, wasEstablished ? COMPLETED : NEVER, now);
  return { ...definition, metadata: { ...metadata, finalizers }, status: { ...status, conditions } };
}

/** Deletes all objects, namespace by namespace. Objects with finalizers stay until those are removed. */
export async function deleteObjects(handle: Handle, kind: Kind, table: Table): Promise<void> {
  const { apiVersion } = kind.versions.find(({ served = true }) => served) ?? kind.hub;
  const namespaces = new Set(table.entries('').map(({ at }) => at.namespace));
  for (const namespace of namespaces) {
    try {
      await handle({
        verb: 'deletecollection',
        apiVersion,
        plural: kind.plural,
        user: SERVER_USER,
        namespace: namespace || undefined,
      });
    } catch (error) {
      // The kind is gone already: another server was faster.
      if (!isApiError(error, 'NotFound')) throw error;
    }
  }
}
