import type { DeepReadonly } from '../../api/object-types.ts';
import type { Client } from '../../client/client.ts';
import { CustomResourceDefinition } from '../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { StorageVersionMigration } from '../../kinds/groups/storage/migration/storage-version-migration.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Named } from '../loop/plan.ts';

export interface MigratedResource {
  /** Kind of the resource; undefined when none is served. */
  readonly kind: Kind | undefined;
  /** The version that the resource is at. */
  readonly resourceVersion: string;
  /** The objects that were not written since the migration began. */
  readonly outdated: readonly Named[];
  /** Definition of the custom kind as it was before its objects were listed; undefined for a built-in kind. */
  readonly definition: DeepReadonly<KubeObject & { spec: unknown; status: unknown }> | undefined;
}

export const NO_RESOURCE: MigratedResource = {
  kind: undefined,
  resourceVersion: '',
  outdated: [],
  definition: undefined,
};

/** Number of objects in one page of a list. */
const PAGE_OBJECTS = 500;

interface Look {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly kinds: () => Iterable<Kind>;
}

const REQUIRED_VERBS = ['update', 'patch', 'list'] as const;

/** Reports whether objects of the kind can be written again. */
export function isMigratable({ verbs }: Kind): boolean {
  return !verbs || REQUIRED_VERBS.every((verb) => verbs.includes(verb));
}

export async function resourceOf(
  { spec, status }: DeepReadonly<StorageVersionMigration>,
  { client, signal, kinds }: Look,
): Promise<MigratedResource> {
  const { group, resource } = spec.resource;
  const kind = [...kinds()].find((each) => each.group === group && each.plural === resource);
  if (!kind || !isMigratable(kind)) return { ...NO_RESOURCE, kind };
  const resources = client.of<KubeObject>(kind);
  const began = status.resourceVersion;
  const definition = await definitionOf(kind, { client, signal });
  if (!began) {
    const { metadata } = await resources.list({ limit: 1, metadataOnly: true, signal });
    return { ...NO_RESOURCE, kind, resourceVersion: metadata.resourceVersion, definition };
  }
  const { items, metadata } = await resources.listAll({ limit: PAGE_OBJECTS, metadataOnly: true, signal });
  const outdated = items.filter((object) => Number(object.metadata.resourceVersion) <= Number(began));
  return { kind, resourceVersion: metadata.resourceVersion, outdated, definition };
}

async function definitionOf({ group, plural }: Kind, { client, signal }: Pick<Look, 'client' | 'signal'>) {
  if (!group.includes('.')) return undefined;
  return client.of(CustomResourceDefinition).find(`${plural}.${group}`, { signal });
}
