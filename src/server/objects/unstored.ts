import { clone } from '../../base/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Item } from '../api.ts';
import { selfLinkOf } from '../cache/encoding.ts';
import type { Resource } from '../registry.ts';

/** An item for an object that is not in the cache: the outcome of a dry run, a Scale. */
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

/** The item for an object that was not stored, converted from the stored version to that of the call. */
export function unstored({ kind, version }: Resource, object: KubeObject): Item {
  const copy = clone(object);
  copy.apiVersion = version.apiVersion;
  const shown: KubeObject = version.fromHub ? version.fromHub(copy) : copy;
  const { namespace = '', name = '' } = shown.metadata;
  shown.metadata.selfLink = selfLinkOf(kind, version, { namespace, name });
  return plainItem(shown);
}
