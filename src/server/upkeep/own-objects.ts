/** Writes objects that the server itself maintains in every cluster. */

import type { Call, Handle } from '../../api/call.ts';
import { isApiError } from '../../api/errors.ts';
import { SERVER_USER } from '../objects/server-user.ts';

interface OwnMetadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface OwnObject {
  /** The version of the kind; default: `v1`. */
  readonly apiVersion?: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly body: { readonly metadata: OwnMetadata } & Record<string, unknown>;
}

/** Creates an object unless it exists. A `status` in the body is written only then. */
export async function ensure(handle: Handle, object: OwnObject): Promise<void> {
  const { metadata, status } = object.body;
  const { name } = metadata;
  try {
    await handle({ ...target(object), verb: 'get', name });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    await create(handle, object);
    if (status === undefined) return;
    const patch = {
      verb: 'patch',
      patchType: 'merge',
      subresource: 'status',
      body: structuredClone({ status }),
    } as const;
    await handle({ ...target(object), ...patch, name });
  }
}

/** Creates an object, or merges the body into one that exists. */
export async function put(handle: Handle, object: OwnObject): Promise<void> {
  const { name } = object.body.metadata;
  try {
    await handle({ ...target(object), verb: 'patch', patchType: 'merge', name, body: structuredClone(object.body) });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    await create(handle, object);
  }
}

/** Deletes an object; with `resourceVersion`, only at that version. Returns false when it is at another one. */
export async function remove(
  handle: Handle,
  object: Omit<OwnObject, 'body'> & { readonly name: string },
  resourceVersion?: string,
): Promise<boolean> {
  const body = resourceVersion === undefined ? undefined : { preconditions: { resourceVersion } };
  try {
    await handle({ ...target(object), verb: 'delete', name: object.name, ...(body && { body }) });
    return true;
  } catch (error) {
    if (!isApiError(error, 'NotFound', 'Conflict')) throw error;
    return error.reason === 'NotFound';
  }
}

async function create(handle: Handle, object: OwnObject): Promise<void> {
  try {
    await handle({ ...target(object), verb: 'create', body: structuredClone(object.body) });
  } catch (error) {
    // Another server created it first.
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}

function target({ apiVersion = 'v1', plural, namespace }: Omit<OwnObject, 'body'>): Omit<Call, 'verb'> {
  return { apiVersion, plural, user: SERVER_USER, namespace: namespace || undefined };
}
