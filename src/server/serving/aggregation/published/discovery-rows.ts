/** Parses the list of resources that another server publishes for a group and version. */
import { isTree } from '../../../../base/json/tree.ts';
import type { DiscoveredResource, DiscoveredSubresource } from '../../backend.ts';
import { boundedJson } from './bounded-json.ts';

const MAX_RESOURCES = 1000;
const MAX_WORDS = 50;
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const KIND = /^[A-Za-z0-9]{1,253}$/;
const WORD = /^[A-Za-z0-9.-]{1,63}$/;

/** Returns the resources, without malformed ones. */
export function discoveredRows(body: Buffer): readonly DiscoveredResource[] {
  const list = boundedJson(body);
  const rows = isTree(list) && Array.isArray(list.resources) ? list.resources.slice(0, MAX_RESOURCES) : [];
  const resources = new Map<string, DiscoveredResource & { readonly subresources: DiscoveredSubresource[] }>();
  for (const row of rows) {
    if (!isTree(row) || typeof row.name !== 'string' || !NAME.test(row.name)) continue;
    if (typeof row.kind !== 'string' || !KIND.test(row.kind) || resources.has(row.name)) continue;
    resources.set(row.name, {
      plural: row.name,
      singular: typeof row.singularName === 'string' && NAME.test(row.singularName) ? row.singularName : '',
      kind: row.kind,
      namespaced: row.namespaced === true,
      verbs: words(row.verbs),
      shortNames: words(row.shortNames),
      categories: words(row.categories),
      hasMoved: false,
      subresources: [],
    });
  }
  for (const row of rows) {
    if (!isTree(row) || typeof row.name !== 'string') continue;
    const [plural = '', name = '', ...more] = row.name.split('/');
    if (!NAME.test(name) || more.length > 0 || typeof row.kind !== 'string' || !KIND.test(row.kind)) continue;
    resources
      .get(plural)
      ?.subresources.push({ name, kind: row.kind, apiVersion: homeOf(row), verbs: words(row.verbs) });
  }
  return [...resources.values()];
}

function words(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_WORDS).filter((each): each is string => typeof each === 'string' && WORD.test(each));
}

/** Returns the group and version of the kind of a subresource; undefined if it is that of the list. */
function homeOf({ group, version }: Record<string, unknown>): string | undefined {
  if (typeof version !== 'string' || !WORD.test(version)) return undefined;
  return typeof group === 'string' && NAME.test(group) ? `${group}/${version}` : version;
}
