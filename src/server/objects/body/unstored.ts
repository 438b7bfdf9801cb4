import type { Item, ListedItem } from '../../../api/reply.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { selfLinkOf } from '../cache/entry/encoding.ts';
import { fromHub, type MaybeAsync, whenReady } from '../conversion/convert.ts';
import type { Resource } from '../registry/registry.ts';

/** An item for an object outside the cache, such as the result of a dry run, or a Scale. */
export function plainItem(object: KubeObject): ListedItem {
  let json: Buffer | undefined;
  return {
    object,
    metadata: object.metadata,
    size: 0,
    json() {
      json ??= Buffer.from(JSON.stringify(object));
      return json;
    },
  };
}

/** Creates the item for an object that was not stored, converted from the stored version to that of the call. */
export function unstored(resource: Resource, object: KubeObject): MaybeAsync<Item> {
  return whenReady(fromHub(resource, object), (shown) => {
    const { namespace = '', name = '' } = shown.metadata;
    shown.metadata.selfLink = selfLinkOf(resource.kind, resource.version, { namespace, name });
    return plainItem(shown);
  });
}
