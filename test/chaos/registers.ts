/**
 * Decides whether registers behaved as if each operation on them had happened at one moment between its request and its
 * response. Each version of a register has a number that grows in the order of the writes, which makes the search for such an
 * order unnecessary: it is enough to compare versions with times.
 */

import { groupBy } from '../../src/base/collections/group-by.ts';

/** A version of a register: the number that the API gave it, and the unique value that was written. */
export interface Version {
  readonly number: number;
  readonly value: string;
}

export interface Operation {
  readonly register: string;
  /** Times of the request and of the response. */
  readonly began: number;
  readonly ended: number;
  /** The version that was read, or made. */
  readonly version: Version;
  /** The number of the version that a write replaced; undefined for a read. */
  readonly replaced?: number;
}

/** Returns every violation as a sentence. `versions` are all that a register ever had, as a watch showed them. */
export function violations(
  operations: readonly Operation[],
  versions: ReadonlyMap<string, readonly Version[]>,
): string[] {
  const registers = groupBy(operations, ({ register }) => register);
  return [...registers].flatMap(([register, own]) => [
    ...unknownVersions(own, versions.get(register) ?? []),
    ...wrongPredecessors(own, versions.get(register) ?? []),
    ...stale(own),
  ]);
}

/** Every acknowledged write and every read is of a version that the watch showed, with the same value. */
function unknownVersions(operations: readonly Operation[], versions: readonly Version[]): string[] {
  const known = new Map(versions.map(({ number, value }) => [number, value]));
  return operations
    .filter(({ version }) => known.get(version.number) !== version.value)
    .map((each) => `${text(each)}: the watch showed ${known.get(each.version.number) ?? 'nothing'} there`);
}

/** A write replaces the version right before its own. */
function wrongPredecessors(operations: readonly Operation[], versions: readonly Version[]): string[] {
  const before = new Map(versions.map(({ number }, i) => [number, versions[i - 1]?.number]));
  return operations
    .filter(({ replaced, version }) => replaced !== undefined && before.get(version.number) !== replaced)
    .map((each) => `${text(each)}: it replaced ${before.get(each.version.number)}, not ${each.replaced}`);
}

/** An operation sees what operations that had ended before it began have seen or made, or something newer. */
function stale(operations: readonly Operation[]): string[] {
  const byEnd = operations.toSorted((a, b) => a.ended - b.ended);
  const byStart = operations.toSorted((a, b) => a.began - b.began);
  const problems: string[] = [];
  let newest: Operation | undefined;
  let next = 0;
  for (const operation of byStart) {
    for (; byEnd[next]!.ended < operation.began; next++) {
      if (!newest || byEnd[next]!.version.number > newest.version.number) newest = byEnd[next];
    }
    if (newest && operation.version.number < newest.version.number) {
      problems.push(`${text(operation)}: ${text(newest)} had ended before`);
    }
  }
  return problems;
}

function text({ register, version, replaced, began, ended }: Operation): string {
  const what = replaced === undefined ? 'read' : 'write';
  return `${what} of ${register} at ${began.toFixed(0)} to ${ended.toFixed(0)}: ${version.value}@${version.number}`;
}
