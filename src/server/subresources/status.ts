import type { Call, Item, ObjectReply } from '../api.ts';
import type { Core } from '../core.ts';
import { plainItem } from '../objects/unstored.ts';
import type { Resource } from '../registry.ts';
import { get } from '../verbs/get.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import type { Subresource } from './subresource.ts';

type Operation = (core: Core, resource: Resource, call: Call) => Promise<ObjectReply>;

/** The only way to change a status; everything else in the object stays as it is. */
export const status: Subresource = {
  name: 'status',
  of: ({ kind }) => kind.subresources?.status ?? false,
  verbs: { get: atItsPath(get), update: atItsPath(update), patch: atItsPath(patch) },
};

/** The object says at which path it was read. */
function atItsPath(operation: Operation): Operation {
  return async (core, resource, call) => ({
    type: 'object',
    item: linked((await operation(core, resource, call)).item),
  });
}

function linked({ object }: Item): Item {
  return plainItem({ ...object, metadata: { ...object.metadata, selfLink: `${object.metadata.selfLink}/status` } });
}
