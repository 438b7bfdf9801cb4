/** Creates objects; those of an earlier attempt are brought up to date. */
import { isApiError } from '../../../api/errors.ts';
import type { AnyObject, DeepReadonly, KindRef } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import type { ObjectToCreate } from '../../../federation/tool/control-plane.ts';

/** Kinds whose objects are kept as they are when they exist: what they were given cannot change, or others depend on it. */
const KEPT = new Set(['Namespace', 'PersistentVolumeClaim', 'ServiceAccount']);

/** Returns whether the object was created. */
export async function ensure(client: Client, { kind, object }: ObjectToCreate): Promise<boolean> {
  const { name = '', namespace } = object.metadata;
  const resource = client.of(kind as KindRef<AnyObject>).in(namespace);
  const existing = await find(client, kind, name, namespace);
  if (!existing) {
    await resource.create(object);
    return true;
  }
  if (KEPT.has(kind.kind) || object.type === 'kubernetes.io/service-account-token') return false;
  // A service keeps the addresses that it was given.
  if (kind.kind === 'Service') {
    if (object.spec.type === existing.spec?.type) return false;
    await resource.patch(name, { type: 'merge', changes: { spec: { type: object.spec.type } } });
    return false;
  }
  const { resourceVersion } = existing.metadata;
  await resource.update({ ...object, metadata: { ...object.metadata, resourceVersion } } as AnyObject);
  return false;
}

/** Undefined when it does not exist. */
export async function find(
  client: Client,
  kind: KindRef,
  name: string,
  namespace?: string,
): Promise<DeepReadonly<AnyObject> | undefined> {
  try {
    return await client
      .of(kind as KindRef<AnyObject>)
      .in(namespace)
      .get(name);
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Deletes an object unless it is gone already. */
export async function remove(client: Client, kind: KindRef, name: string, namespace?: string): Promise<void> {
  try {
    await client.of(kind).in(namespace).delete(name, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
