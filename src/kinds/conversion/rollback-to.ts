/**
 * The request to roll a Deployment back to an earlier revision: `spec.rollbackTo` in the older versions, an annotation in
 * the newer ones, which have no such field. Revision 0, the previous one, is an empty `rollbackTo`.
 */
import type { KubeObject } from '../kind.ts';
import { wholeNumber, withNumberAnnotation } from './number-annotation.ts';

interface Deployment extends KubeObject {
  spec: { rollbackTo?: { revision?: number } };
}

export const ROLLBACK_ANNOTATION = 'deprecated.deployment.rollback.to';

/** Names the annotations that came with the request, as a JSON list: the rollback does not restore their earlier values. */
export const ROLLBACK_UPDATED_ANNOTATION = 'deprecated.deployment.rollback.updated-annotations';

/** Returns the names in that list; none if it is missing or malformed. */
export function rollbackUpdated(annotations: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    const names: unknown = JSON.parse(annotations[ROLLBACK_UPDATED_ANNOTATION] ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

export function rollbackToAnnotation(deployment: Deployment): Deployment {
  const { rollbackTo, ...spec } = deployment.spec;
  if (rollbackTo) return withNumberAnnotation({ ...deployment, spec }, ROLLBACK_ANNOTATION, rollbackTo.revision ?? 0);
  // In these versions only the field counts. An annotation that is no number was never shown as the field: it stays.
  if (wholeNumber(deployment.metadata.annotations?.[ROLLBACK_ANNOTATION]) === undefined) return deployment;
  return withNumberAnnotation(deployment, ROLLBACK_ANNOTATION, undefined);
}

export function rollbackToField(deployment: Deployment): Deployment {
  const revision = wholeNumber(deployment.metadata.annotations?.[ROLLBACK_ANNOTATION]);
  if (revision === undefined) return deployment;
  const spec = { ...deployment.spec, rollbackTo: revision === 0 ? {} : { revision } };
  return withNumberAnnotation({ ...deployment, spec }, ROLLBACK_ANNOTATION, undefined);
}
