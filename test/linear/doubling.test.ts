/**
 * What happens to an object takes time in proportion to its lists: each list of each kind alone, and all of them together.
 * Processor time is measured, not elapsed time, and only of what is slow at all; the best of several runs counts, and four
 * times the items may take eight times as long. A rule that compares each item with each other takes sixteen times as long.
 */
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { type Collection, collectionsIn } from '../kinds/lists-in.ts';
import { exampleOf, grow } from './grown.ts';
import { writePath } from './write-path.ts';

const FACTOR = 4;
const MAX_RATIO = 8;
const ITEMS = Number(process.env.LINEAR_ITEMS ?? 4_000);
/** Of each list, when all lists of a kind are long. */
const ITEMS_TOGETHER = 800;
/** Faster steps are not compared: they cannot be quadratic at this size, and their times say little. */
const SLOW_MS = 30;
const ROUNDS = 5;

type Times = Map<string, number>;

function timesOf(kind: Kind, collections: readonly Collection[], items: number): Times {
  const times: Times = new Map();
  writePath(kind, grow(exampleOf(kind), collections, items), (step, action) => {
    const before = process.cpuUsage();
    const result = action();
    const { user, system } = process.cpuUsage(before);
    times.set(step, (user + system) / 1000);
    return result;
  });
  return times;
}

/** The steps that take more than proportional time, with their times in milliseconds. */
function quadratic(kind: Kind, collections: readonly Collection[], items: number): string[] {
  const many = timesOf(kind, collections, items);
  let suspects = slowerThan(many, SLOW_MS);
  if (suspects.length === 0) return [];
  const few: Times = new Map();
  for (let round = 0; round < ROUNDS && suspects.length > 0; round++) {
    keepLeast(few, timesOf(kind, collections, items / FACTOR));
    if (round > 0) keepLeast(many, timesOf(kind, collections, items));
    suspects = slowerThan(many, SLOW_MS).filter((step) => many.get(step)! > MAX_RATIO * few.get(step)!);
  }
  return suspects.map((step) => `${step}: ${few.get(step)} ms, then ${many.get(step)} ms`);
}

const slowerThan = (times: Times, ms: number) => [...times.keys()].filter((step) => times.get(step)! > ms);

function keepLeast(times: Times, others: Times): void {
  for (const [step, ms] of others) times.set(step, Math.min(ms, times.get(step) ?? ms));
}

/** Metadata, and the templates of pods, are the same in many kinds. */
function isCovered({ kind }: Kind, { path }: Collection): boolean {
  if (path.startsWith('metadata.')) return kind !== 'ConfigMap';
  return /[tT]emplate\.(spec|metadata)\b/.test(path) && kind !== 'StatefulSet';
}

describe.each(allKinds.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
  const own = collectionsIn(kind.hub.schema).filter((each) => !isCovered(kind, each));

  it('takes time in proportion to the length of each list and map', () => {
    const found = own.flatMap((each) => quadratic(kind, [each], ITEMS).map((step) => `${each.path}: ${step}`));
    expect(found).toEqual([]);
  }, 600_000);

  it('takes time in proportion to the length of all of them together', () => {
    expect(quadratic(kind, own, ITEMS_TOGETHER)).toEqual([]);
  }, 600_000);
});
