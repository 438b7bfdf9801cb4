import { type KubeObject, splitApiVersion } from '../../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../../kinds/shapes/meta/object-meta.ts';
import type { Cache } from '../../../objects/cache/cache.ts';
import type { Registry } from '../../../objects/registry/registry.ts';

interface Ports {
  readonly cache: Cache;
  readonly registry: Registry;
}

type OwnerReferences = NonNullable<ObjectMeta['ownerReferences']>;

/**
 * Leads owner references to the objects that have taken the place of the owners. References to owners that do not exist
 * are dropped: the garbage collector would delete the object at once.
 */
export function presentOwners(core: Ports, { metadata }: Pick<KubeObject, 'metadata'>): OwnerReferences | undefined {
  const { namespace = '', ownerReferences = [] } = metadata;
  const present = ownerReferences.flatMap((reference) => {
    const uid = uidOf(core, namespace, reference);
    return uid === undefined ? [] : [{ ...reference, uid }];
  });
  return present.length > 0 ? present : undefined;
}

function uidOf(
  { cache, registry }: Ports,
  namespace: string,
  { apiVersion, kind: kindName, name }: OwnerReferences[number],
): string | undefined {
  const [group] = splitApiVersion(apiVersion);
  for (const kind of registry.kinds) {
    if (kind.group !== group || kind.kind !== kindName) continue;
    return cache
      .table(kind)
      .get(kind.scope === 'Namespaced' ? namespace : '', name)
      ?.hub(kind).metadata.uid;
  }
  return undefined;
}
