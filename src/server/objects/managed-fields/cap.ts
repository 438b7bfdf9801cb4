import { type FieldSet, NO_FIELDS, union } from '../../../schema/fields/field-set.ts';
import { compareText, identifierOf, type Manager, type Managers, secondsOf } from './managers.ts';

/** Limit for managers that update; beyond it the oldest are merged. Those that apply are all kept. */
export const MAX_UPDATE_MANAGERS = 10;
const OLD_UPDATES_MANAGER = 'ancient-changes';

/** Merges the oldest managers of each version when there are too many. */
export function capManagers(managers: Managers): Managers {
  if (managers.size <= MAX_UPDATE_MANAGERS) return managers;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATE_MANAGERS) return managers;
  updaters.sort(([a, one], [b, other]) => secondsOf(one) - secondsOf(other) || compareText(a, b));
  const left = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  const merged = new Map<string, FieldSet[]>();
  let count = updaters.length;
  for (const [identifier, updater] of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) break;
    const { apiVersion, time } = updater;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, identifier);
      continue;
    }
    const bucket: Omit<Manager, 'fields' | 'time'> = {
      manager: OLD_UPDATES_MANAGER,
      operation: 'Update',
      apiVersion,
      subresource: '',
    };
    const bucketIdentifier = identifierOf(bucket);
    const old = left.get(bucketIdentifier) ?? left.get(first)!;
    const sets = merged.get(bucketIdentifier) ?? [old.fields];
    sets.push(updater.fields);
    merged.set(bucketIdentifier, sets);
    left.delete(first);
    left.delete(identifier);
    left.set(bucketIdentifier, { ...bucket, time, fields: NO_FIELDS });
    count--;
  }
  for (const [identifier, sets] of merged) left.set(identifier, { ...left.get(identifier)!, fields: unionOf(sets) });
  return left;
}

/** Unites sets by halves: a client can send thousands of managers, and a union copies both sets. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? NO_FIELDS, sets[1] ?? NO_FIELDS);
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}
