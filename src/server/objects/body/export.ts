import { badRequest } from '../../../api/errors.ts';
import { clone } from '../../../base/json/tree.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../kinds/shapes/meta/object-meta.ts';
import type { AdmissionControl } from '../admission/request.ts';
import { fromHub } from '../conversion/convert.ts';
import type { Resource } from '../registry/registry.ts';

const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'selfLink',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
] as const satisfies readonly (keyof ObjectMeta)[];

/**
 * Returns an object as a client would send it to create it again: without the parts that the server, the kind's hooks
 * and admission added. With `exact`, cluster-specific fields that a client could set, such as the namespace, stay.
 */
export async function exportedObject(
  { admission }: { readonly admission: Pick<AdmissionControl, 'forget'> },
  resource: Resource,
  { stored, exact }: { readonly stored: KubeObject; readonly exact: boolean },
): Promise<KubeObject> {
  const { kind } = resource;
  const problem = kind.exportProblem?.(stored, exact);
  if (problem) throw badRequest(problem);
  const copy = clone(stored);
  // Some versions contain parts of the status elsewhere.
  setInitialStatus(kind, copy);
  admission.forget(kind, copy);
  kind.onExport?.(copy, exact);
  const { status: _, ...shown }: KubeObject & { status?: unknown } = await fromHub(resource, copy);
  shown.metadata = clientMetadata(shown.metadata, exact);
  return shown;
}

function clientMetadata(metadata: ObjectMeta, exact: boolean): ObjectMeta {
  const own = { ...metadata };
  for (const field of SERVER_METADATA) delete own[field];
  for (const field of ['labels', 'annotations', 'finalizers'] as const) if (isEmpty(own[field])) delete own[field];
  if (exact) return own;
  delete own.namespace;
  if (own.generateName) delete own.name;
  return own;
}

function isEmpty(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length === 0;
}

/** Sets the status of a new object, regardless of what the client sent. */
export function setInitialStatus(kind: Kind, object: KubeObject & { status?: unknown }): void {
  if (kind.initialStatus) object.status = kind.initialStatus(object);
  else if (kind.subresources?.status) object.status = {};
}
