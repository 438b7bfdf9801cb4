/**
 * A Deployment's wish to go back to an earlier revision: `spec.rollbackTo` in the older versions, an annotation in the
 * newer ones, which have no such field. Revision 0, the last one before the present, is an empty `rollbackTo`.
 */
import { wholeNumber, withNumberAnnotation } from './number-annotation.ts';

export const ROLLBACK_ANNOTATION = 'deprecated.deployment.rollback.to';

export function rollbackToAnnotation(deployment: any): any {
  const { rollbackTo, ...spec } = deployment.spec;
  if (rollbackTo) return withNumberAnnotation({ ...deployment, spec }, ROLLBACK_ANNOTATION, rollbackTo.revision ?? 0);
  // Only the field speaks in these versions. A text that is no number was never shown as the field, so it stays.
  if (wholeNumber(deployment.metadata.annotations?.[ROLLBACK_ANNOTATION]) === undefined) return deployment;
  return withNumberAnnotation(deployment, ROLLBACK_ANNOTATION, undefined);
}

export function rollbackToField(deployment: any): any {
  const revision = wholeNumber(deployment.metadata.annotations?.[ROLLBACK_ANNOTATION]);
  if (revision === undefined) return deployment;
  const spec = { ...deployment.spec, rollbackTo: revision === 0 ? {} : { revision } };
  return withNumberAnnotation({ ...deployment, spec }, ROLLBACK_ANNOTATION, undefined);
}
