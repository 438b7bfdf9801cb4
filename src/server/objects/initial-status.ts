import type { Kind, KubeObject } from '../../kinds/kind.ts';

/** Gives an object the status that a new one has, whatever was sent or observed. */
export function setInitialStatus(kind: Kind, object: KubeObject & { status?: unknown }): void {
  if (kind.initialStatus) object.status = kind.initialStatus(object);
  else if (kind.subresources?.status) object.status = {};
}
