import type { Item, ObjectReply } from '../api.ts';
import { plainItem } from '../objects/unstored.ts';
import type { Operation } from '../operation.ts';
import { get } from '../verbs/get.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { named, type Subresource } from './subresource.ts';

/** Reads and writes the status; the rest of the object stays as it is. */
export const status = part('status', ({ kind }) => kind.subresources?.status ?? false);

/** Approves or denies a certificate signing request: only its conditions change. */
export const approval = part('approval');

/** Adds ephemeral containers to a running pod, for debugging. */
export const ephemeralContainers = part('ephemeralcontainers');

/** Changes the resources of the containers of a running pod. */
export const resize = part('resize');

/** A subresource whose body is the whole object and of which only a part is written; the kind's hooks decide which. */
function part(name: string, of: Subresource['of'] = named(name)): Subresource {
  const atItsPath = (operation: Operation<ObjectReply>): Operation<ObjectReply> => {
    return async (core, request) => ({
      type: 'object',
      item: linked((await operation(core, request)).item, name),
    });
  };
  return { name, of, verbs: { get: atItsPath(get), update: atItsPath(update), patch: atItsPath(patch) } };
}

/** The object with the subresource in its selfLink. */
function linked({ object }: Item, name: string): Item {
  return plainItem({ ...object, metadata: { ...object.metadata, selfLink: `${object.metadata.selfLink}/${name}` } });
}
