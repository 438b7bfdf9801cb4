/**
 * The difference between what two releases make of one copy. The release that runs the cluster is the measure: what it changes on
 * a copy without nodes as well, the upgrade does not cause.
 */
import type { ObjectChange } from './changes.ts';
import type { CopyResult, UnreadableObject } from './messages.ts';

export interface Difference {
  /** Changes that only the new release makes. */
  readonly changes: readonly ObjectChange[];
  /** Number of changes that both make. */
  readonly alike: number;
  readonly unreadable: readonly UnreadableObject[];
  readonly apis: { readonly added: readonly string[]; readonly removed: readonly string[] } | undefined;
}

/** `present`: of the release that runs the cluster; undefined: there is none to compare with. */
export function differenceOf(next: CopyResult, present: CopyResult | undefined): Difference {
  const known = new Map<string, Set<string>>();
  for (const change of present?.changes ?? []) {
    const lines = known.get(idOf(change)) ?? new Set<string>();
    for (const line of linesOf(change)) lines.add(line);
    known.set(idOf(change), lines);
  }
  const isAlike = (change: ObjectChange) => {
    const lines = known.get(idOf(change));
    return lines !== undefined && linesOf(change).every((line) => lines.has(line));
  };
  const changes = next.changes.filter((change) => !isAlike(change));
  const damaged = new Set(present?.unreadable.map(({ key }) => key));
  return {
    changes,
    alike: next.changes.length - changes.length,
    unreadable: next.unreadable.filter(({ key }) => !damaged.has(key)),
    apis: present && {
      added: without(next.apis, present.apis),
      removed: without(present.apis, next.apis),
    },
  };
}

function without(all: readonly string[], some: readonly string[]): readonly string[] {
  const left = new Set(some);
  return all.filter((each) => !left.has(each)).sort();
}

const idOf = ({ action, kind, namespace, name }: ObjectChange) => JSON.stringify([action, kind, namespace, name]);

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Times and identifiers differ each time. */
function linesOf({ fields }: ObjectChange): string[] {
  return fields.map((line) => line.replaceAll(TIME, '(time)').replaceAll(UUID, '(uid)'));
}
