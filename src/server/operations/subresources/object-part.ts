import type { Item, ObjectReply } from '../../../api/reply.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import { plainItem } from '../../objects/body/body.ts';
import type { UpdatedPart } from '../../objects/registry/descriptor.ts';
import type { Operation } from '../ports.ts';
import { get } from '../verbs/get.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import type { Subresource } from './subresource.ts';

/**
 * A subresource at which clients read the whole object and write a part of it. The hooks of the kind restore parts that
 * this subresource may not change, beyond what `updates` excludes. The selfLink is the path of the subresource, unless
 * `keepsLink`.
 */
export function objectPart<N extends SubresourceName>(
  name: N,
  updates: UpdatedPart,
  { keepsLink = false }: { readonly keepsLink?: boolean } = {},
): Subresource<N> {
  const linked = (operation: Operation<ObjectReply>): Operation<ObjectReply> => {
    if (keepsLink) return operation;
    return async (core, request) => ({ type: 'object', item: withLink((await operation(core, request)).item, name) });
  };
  return {
    name,
    operations: { get: linked(get), update: linked(update), patch: linked(patch) },
    content: { type: 'object' },
    updates,
  };
}

/** Returns the object with the path of the subresource as its selfLink. */
function withLink({ object }: Item, name: SubresourceName): Item {
  return plainItem({ ...object, metadata: { ...object.metadata, selfLink: `${object.metadata.selfLink}/${name}` } });
}

/** Changes the resources of a running pod's containers, and nothing else. The selfLink is that of the pod itself. */
export const resize = objectPart('resize', 'object', { keepsLink: true });

/** Adds containers to a running pod, for debugging. The kind preserves everything else. */
export const ephemeralContainers = objectPart('ephemeralcontainers', 'object');
