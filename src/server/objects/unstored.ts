import type { KubeObject } from '../../kinds/kind.ts';
import type { Item } from '../api.ts';
import { selfLinkOf } from '../cache/encoding.ts';
import { fromHub, type MaybeAsync, whenReady } from '../conversion/convert.ts';
import type { Resource } from '../registry.ts';

/** An answer that stands in no store: a dry run's, a Scale. */
export function plainItem(object: KubeObject): Item {
  let json: Buffer | undefined;
  return {
    object,
    json() {
      json ??= Buffer.from(JSON.stringify(object));
      return json;
    },
  };
}

/** An object in the stored version that was not stored, as the version of the call shows it. */
export function unstored(resource: Resource, object: KubeObject): MaybeAsync<Item> {
  return whenReady(fromHub(resource, object), (shown) => {
    const { namespace = '', name = '' } = shown.metadata;
    shown.metadata.selfLink = selfLinkOf(resource.kind, resource.version, { namespace, name });
    return plainItem(shown);
  });
}
