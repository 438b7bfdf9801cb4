/** The status of a federated object of any kind, made from those of the members. */

import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import { deepEqual, isTree } from '../../base/json/tree.ts';

type Values = readonly unknown[];

interface Condition {
  readonly type?: string;
  readonly status?: string;
}

/**
 * Gathers statuses: numbers are added, conditions hold when they hold everywhere, and values that are the same in all
 * members are taken over. Everything else is left out: it means something in one cluster only.
 */
export function gatherStatus(members: readonly DeepReadonly<AnyObject>[], federated: DeepReadonly<AnyObject>): object {
  const statuses = members.flatMap(({ status }) => (isTree(status) ? [status] : []));
  const fields = [...new Set(statuses.flatMap((status) => Object.keys(status)))];
  return Object.fromEntries(
    fields.flatMap((field) => {
      const values = statuses.flatMap((status) => (status[field] === undefined ? [] : [status[field]]));
      const merged =
        field === 'observedGeneration' ? federated.metadata.generation : mergedValue(field, values, statuses.length);
      return merged === undefined ? [] : [[field, merged]];
    }),
  );
}

function mergedValue(field: string, values: Values, count: number): unknown {
  if (values.every((value) => typeof value === 'number'))
    return values.reduce<number>((sum, value) => sum + Number(value), 0);
  if (field === 'conditions' && values.every(Array.isArray)) return mergedConditions(values as Condition[][], count);
  return values.length === count && values.every((value) => deepEqual(value, values[0])) ? values[0] : undefined;
}

/** Merges conditions by type: one that does not hold precedes one that does; a type that a member lacks is left out. */
function mergedConditions(lists: readonly (readonly Condition[])[], count: number): readonly Condition[] {
  const all = lists.flat();
  return [...new Set(all.map(({ type }) => type))].flatMap((type) => {
    const found = all.filter((condition) => condition.type === type);
    if (found.length < count) return [];
    return [found.find(({ status }) => status !== 'True') ?? found[0]!];
  });
}
