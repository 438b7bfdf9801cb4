import type { Kind, KubeObject } from '../../../kinds/kind.ts';

/** Sets the status of a new object, regardless of what the client sent. */
export function setInitialStatus(kind: Kind, object: KubeObject & { status?: unknown }): void {
  if (kind.initialStatus) object.status = kind.initialStatus(object);
  else if (kind.subresources?.status) object.status = {};
}
