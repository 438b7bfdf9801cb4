/**
 * Deletes all objects of a custom kind whose definition is being deleted, and then removes the definition's finalizer.
 */

import type { Handle } from '../../../api/call.ts';
import { isApiError } from '../../../api/errors.ts';
import {
  CLEANUP_FINALIZER,
  type NewCondition,
  withCondition,
} from '../../../kinds/groups/extension/apiextensions/conditions.ts';
import type { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Table } from '../../objects/cache/table.ts';
import { SERVER_USER } from '../../objects/server-user.ts';

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
