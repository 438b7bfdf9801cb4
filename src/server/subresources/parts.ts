import type { Item, ObjectReply } from '../api.ts';
import { plainItem } from '../objects/unstored.ts';
import type { Operation } from '../operation.ts';
import { get } from '../verbs/get.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { named, type Subresource } from './subresource.ts';

/** The only way to change a status; everything else in the object stays as it is. */
export const status = part('status', ({ kind }) => kind.subresources?.status ?? false);

/** Approves or denies a certificate request: only its conditions change. */
export const approval = part('approval');

/** Adds containers to a pod that runs, to look into it. */
export const ephemeralContainers = part('ephemeralcontainers');

/** Gives the containers of a pod that runs more or less of their resources. */
export const resize = part('resize');

/** A path at which the whole object is read and sent, and of which only a part is taken; the kind's hooks know which. */
function part(name: string, of: Subresource['of'] = named(name)): Subresource {
  const atItsPath = (operation: Operation<ObjectReply>): Operation<ObjectReply> => {
    return async (core, request) => ({
      type: 'object',
      item: linked((await operation(core, request)).item, name),
    });
  };
  return { name, of, verbs: { get: atItsPath(get), update: atItsPath(update), patch: atItsPath(patch) } };
}

/** The object says at which path it was read. */
function linked({ object }: Item, name: string): Item {
  return plainItem({ ...object, metadata: { ...object.metadata, selfLink: `${object.metadata.selfLink}/${name}` } });
}
