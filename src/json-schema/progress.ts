import { getOrInsert } from '../base/collections/get-or-insert.ts';
import type { DividedWork, Pace } from '../base/event-loop/in-turns.ts';
import { continued, TurnSpent } from '../base/event-loop/replay.ts';
import { canonicalJson } from '../base/json/canonical.ts';
import { deepEqual } from '../base/json/tree.ts';
import {
  longMatch,
  matchesAnywhere,
  matchingSteps,
  RegularExpressionError,
  regularExpression,
} from '../base/text/regular-expression.ts';

/** Remembers facts about values of one validation that take long, and that thousands of schemas may ask for. */
class ValueFacts {
  readonly #canonical = new WeakMap<object, string>();
  readonly #keyCounts = new WeakMap<object, number>();
  readonly #unchanged = new WeakMap<object, { readonly old: unknown; readonly isSame: boolean }>();
  #text = '';
  #characters = 0;

  canonical(value: unknown): string {
    if (typeof value !== 'object' || value === null) return canonicalJson(value);
    return getOrInsert(this.#canonical, value, () => canonicalJson(value));
  }

  keyCount(value: object): number {
    return getOrInsert(this.#keyCounts, value, () => Object.keys(value).length);
  }

  /** Reports whether a value equals the one that it replaces. */
  isSame(value: unknown, old: unknown): boolean {
    if (typeof value !== 'object' || value === null) return value === old;
    let known = this.#unchanged.get(value);
    if (!known || known.old !== old) {
      known = { old, isSame: deepEqual(value, old) };
      this.#unchanged.set(value, known);
    }
    return known.isSame;
  }

  /** The number of code points. */
  characters(text: string): number {
    if (this.#text !== text) {
      let count = 0;
      for (const _ of text) count++;
      this.#text = text;
      this.#characters = count;
    }
    return this.#characters;
  }
}

/** Ends a validation that takes too long. */
export class TooCostly {}

/**
 * Number of steps whose findings each run completes at least, so that it gets further than the one before, however long
 * it takes to get to where that one ended. A step takes up to 50 ns.
 */
const MIN_STEPS = 50_000;
const STEPS_PER_MATCH = 20;
const STEPS_PER_SCHEMA = 10;
/** Steps to compile an instruction. */
const STEPS_PER_INSTRUCTION = 70;
/** Maximum steps of all matches and alternatives of a validation: some seconds. */
const MAX_STEPS = 100_000_000;
/** Maximum number of schemas applied in compositions, which alone can far exceed the number of parts of the value. */
const MAX_ALTERNATIVES = 500_000;

/** Result of matching a text against a pattern, if that can be determined in time. */
type Match = boolean | 'too long';

interface Cost {
  steps: number;
  alternatives: number;
}

/**
 * Keeps the progress of a validation. When the turn is spent, the validation starts again in another one without
 * repeating findings: they are asked for in the same order. Findings inside a complete finding are forgotten.
 */
export class Progress {
  readonly facts = new ValueFacts();
  /** Known results inside each finding that is not complete yet, from the outermost on. */
  readonly #known: unknown[][] = [[]];
  readonly #next: number[] = [0];
  #depth = 0;
  /** Number of nested compositions of schemas that the validation is in. */
  #compositions = 0;
  /** Cost of the complete findings, and cost of this run besides them. */
  readonly #settled: Cost = { steps: 0, alternatives: 0 };
  readonly #unsettled: Cost = { steps: 0, alternatives: 0 };
  /** The steps of the findings that were complete when this run began. */
  #settledBefore = 0;
  readonly #patterns = new Set<string>();
  /** The match that was under way when the turn was spent. */
  #long: DividedWork<Match> | undefined;

  /** Without a pace, everything is done in one turn. */
  constructor(private readonly pace?: Pace) {}

  rewind(): void {
    this.#next.fill(0);
    this.#depth = 0;
    this.#compositions = 0;
    this.#unsettled.steps = 0;
    this.#unsettled.alternatives = 0;
    this.#settledBefore = this.#settled.steps;
  }

  get isComposing(): boolean {
    return this.#compositions > 0;
  }

  /** A schema is applied. Throws TooCostly. */
  apply(): void {
    this.spend(STEPS_PER_SCHEMA);
    if (this.#compositions === 0) return;
    this.#unsettled.alternatives++;
    if (this.#settled.alternatives + this.#unsettled.alternatives > MAX_ALTERNATIVES) throw new TooCostly();
  }

  /** Counts `steps` steps before they are taken. Throws TooCostly. */
  spend(steps: number): void {
    this.#unsettled.steps += steps;
    if (this.#settled.steps + this.#unsettled.steps > MAX_STEPS) throw new TooCostly();
  }

  /** Returns the result of `find`, which is called again only if it was interrupted. Throws TurnSpent and TooCostly. */
  once<T>(find: () => T): T {
    const known = this.#known[this.#depth]!;
    const index = this.#next[this.#depth]!++;
    if (index < known.length) return known[index] as T;
    this.#pause();
    const { steps, alternatives } = this.#unsettled;
    const depth = ++this.#depth;
    this.#known[depth] ??= [];
    this.#next[depth] = 0;
    const found = find();
    this.#known[depth].length = 0;
    this.#depth = depth - 1;
    known.push(found);
    this.#settle(steps, alternatives);
    return found;
  }

  /** Works like `once` for a schema that is one of several about a value. */
  compose<T>(find: () => T): T {
    return this.once(() => {
      this.#compositions++;
      const found = find();
      this.#compositions--;
      return found;
    });
  }

  /** Throws TurnSpent and TooCostly. */
  isMatch(pattern: string, text: string): Match {
    const known = this.#known[this.#depth]!;
    const index = this.#next[this.#depth]!++;
    if (index < known.length) return known[index] as Match;
    const result = this.#long ? this.#continue(this.#long) : this.#match(pattern, text);
    known.push(result);
    return result;
  }

  #match(pattern: string, text: string): Match {
    this.#pause();
    const { steps, alternatives } = this.#unsettled;
    const expression = regularExpression(pattern);
    this.spend(matchingSteps(expression, text) + STEPS_PER_MATCH);
    if (!this.#patterns.has(pattern)) this.spend(expression.programSize() * STEPS_PER_INSTRUCTION);
    this.#patterns.add(pattern);
    // A long match that is interrupted is continued, and not counted again.
    this.#settle(steps, alternatives);
    const long = longMatch(expression, text);
    return long ? this.#continue(long.decide(this.pace)) : matched(expression, text);
  }

  #continue(long: DividedWork<Match>): Match {
    this.#long = long;
    const result = continued(long);
    this.#long = undefined;
    return result;
  }

  /** Marks the work since then as settled: it is not done again. */
  #settle(steps: number, alternatives: number): void {
    this.#settled.steps += this.#unsettled.steps - steps;
    this.#settled.alternatives += this.#unsettled.alternatives - alternatives;
    this.#unsettled.steps = steps;
    this.#unsettled.alternatives = alternatives;
  }

  #pause(): void {
    if (this.#settled.steps - this.#settledBefore >= MIN_STEPS && this.pace?.isSpent()) throw new TurnSpent();
  }
}

function matched(expression: ReturnType<typeof regularExpression>, text: string): Match {
  try {
    return matchesAnywhere(expression, text);
  } catch (error) {
    if (error instanceof RegularExpressionError) return 'too long';
    throw error;
  }
}
