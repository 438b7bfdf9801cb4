import { clone } from '../../base/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Item } from '../api.ts';
import { selfLinkOf } from '../cache/encoding.ts';
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

/** An object in the stored version's shape that was not stored, as the version of the call shows it. */
export function unstored({ kind, version }: Resource, object: KubeObject): Item {
  const copy = clone(object);
  copy.apiVersion = version.apiVersion;
  const shown: KubeObject = version.fromHub ? version.fromHub(copy) : copy;
  const { namespace = '', name = '' } = shown.metadata;
  shown.metadata.selfLink = selfLinkOf(kind, version, { namespace, name });
  return plainItem(shown);
}
