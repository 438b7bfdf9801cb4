/**
 * Tests that work on an object takes time in proportion to its lists: each list of each kind alone, and all of them
 * together. Processor time is measured, not elapsed time; the best of several runs counts, and eight times the items
 * may take 24 times as long. A rule that compares each item with each other takes 64 times as long. One whose
 * comparisons are so cheap that the longest list takes less than a tenth of a second may pass. Garbage is collected
 * from some length on, which makes a step slower by a constant factor: so one that is over the limit must also take
 * more than three times as long for twice the items.
 */
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { type Collection, collectionsIn } from '../kinds/lists-in.ts';
import { exampleOf } from '../support/kinds/examples.ts';
import { grow } from './grown.ts';
import { writePath } from './write-path.ts';

const FACTOR = 8;
const MAX_RATIO = 24;
const MAX_RATIO_OF_DOUBLE = 3;
const ITEMS = Number(process.env.LINEAR_ITEMS ?? 4_000);
/** Number of items in each list when all lists of a kind are long. */
const ITEMS_TOGETHER = 1_200;
/**
 * Number of items where a list has the same description as an earlier one, such as that of a label selector: only a rule
 * of the kind itself treats it differently.
 */
export const ITEMS_AGAIN = ITEMS / 4;
/** Minimum time: shorter ones are not meaningful. */
const MIN_MS = 1.5;
/** Number of rounds: a step that is over the limit in all of them does not take proportional time. */
const ROUNDS = 12;
/** Number of rounds for a step that is twice over the limit: nothing that disturbs a measurement lasts longer. */
const ROUNDS_FOR_CLEAR_CASES = 3;

/**
 * Number of runs until a step is compiled and no longer slow: compared with an uncompiled run of few items, no step
 * would be suspect.
 */
const WARM_UP_RUNS = 3;

type Times = Map<string, number>;

/** Returns the time of each wanted step; all steps are wanted by default. */
function timesOf(
  kind: Kind,
  collections: readonly Collection[],
  { items, isWanted = () => true }: { items: number; isWanted?(step: string): boolean },
): Times {
  const times: Times = new Map();
  const run = <T>(step: string, action: () => T): T => {
    const before = process.cpuUsage();
    const result = action();
    const { user, system } = process.cpuUsage(before);
    if (isWanted(step)) times.set(step, (user + system) / 1000);
    return result;
  };
  writePath(kind, grow(exampleOf(kind), collections, items), { run, isWanted });
  return times;
}

/** The steps that take more than proportional time, with their times in milliseconds. */
export function quadratic(kind: Kind, collections: readonly Collection[], items: number): string[] {
  const many = timesOf(kind, collections, { items });
  const few: Times = new Map();
  const isSuspect = (step: string) => many.get(step)! > MAX_RATIO * Math.max(few.get(step) ?? 0, MIN_MS);
  const isClear = (step: string) => many.get(step)! > 2 * MAX_RATIO * Math.max(few.get(step)!, MIN_MS);
  let suspects = [...many.keys()].filter(isSuspect);
  const timesOfSuspects = (count: number) =>
    timesOf(kind, collections, { items: count, isWanted: (step) => suspects.includes(step) });
  for (let run = 1; run < WARM_UP_RUNS && suspects.length > 0; run++) keepLeast(few, timesOfSuspects(items / FACTOR));
  for (let round = 0; round < ROUNDS && suspects.length > 0; round++) {
    keepLeast(few, timesOfSuspects(items / FACTOR));
    if (round > 0) keepLeast(many, timesOfSuspects(items));
    suspects = suspects.filter(isSuspect);
    if (round + 1 >= ROUNDS_FOR_CLEAR_CASES && suspects.every(isClear)) break;
  }
  const half: Times = new Map();
  const isSlowForDouble = (step: string) => many.get(step)! > MAX_RATIO_OF_DOUBLE * half.get(step)!;
  for (let round = 0; round < ROUNDS && suspects.length > 0; round++) {
    keepLeast(half, timesOfSuspects(items / 2));
    keepLeast(many, timesOfSuspects(items));
    if (round + 1 >= ROUNDS_FOR_CLEAR_CASES && suspects.every(isSlowForDouble)) break;
  }
  suspects = suspects.filter(isSlowForDouble);
  return suspects.map((step) => `${step}: ${few.get(step)} ms, then ${many.get(step)} ms`);
}

function keepLeast(times: Times, others: Times): void {
  for (const [step, ms] of others) times.set(step, Math.min(ms, times.get(step) ?? ms));
}

/** Metadata, the templates of pods and their containers are the same in many places. */
function isCovered({ kind }: Kind, { path }: Collection): boolean {
  if (path.startsWith('metadata.')) return kind !== 'ConfigMap';
  return /[tT]emplate\.(spec|metadata)\b|(init|ephemeral)Containers\[\]/.test(path);
}

/** Descriptions of lists and maps, with the kind and path where each is first. */
const first = new Map<Schema, string>();
const placeOf = ({ kind, group }: Kind, { path }: Collection) => `${kind}.${group}: ${path}`;
for (const kind of allKinds) {
  for (const each of collectionsIn(kind.hub.schema)) {
    if (!isCovered(kind, each) && !first.has(each.schema)) first.set(each.schema, placeOf(kind, each));
  }
}
const itemsOf = (kind: Kind, each: Collection) =>
  first.get(each.schema) === placeOf(kind, each) ? ITEMS : ITEMS_AGAIN;

/** Lists whose items have names, or are names: others may refer to those. */
function isNamed({ path, schema }: Collection): boolean {
  return schema.type === 'list' && schema.list !== 'atomic' && path.split('[]').length <= 2;
}

/** Tests each kind. */
export function takesProportionalTime(kinds: readonly Kind[]): void {
  describe.each(kinds.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
    const own = collectionsIn(kind.hub.schema).filter((each) => !isCovered(kind, each));

    it('takes time in proportion to the length of each list and map', () => {
      const found = own.flatMap((each) =>
        quadratic(kind, [each], itemsOf(kind, each)).map((step) => `${each.path}: ${step}`),
      );
      expect(found).toEqual([]);
    }, 600_000);

    it('takes time in proportion to the length of all lists of names together', () => {
      const named = collectionsIn(kind.hub.schema).filter(isNamed);
      expect(quadratic(kind, named, ITEMS_TOGETHER)).toEqual([]);
    }, 600_000);
  });
}
