import fc from 'fast-check';

export { default as fc } from 'fast-check';

/**
 * Returns how often a property that takes long is tried. The inputs differ in each run of the tests, so that a few are enough for
 * each; `PROPERTY_RUNS=20` tries twenty times as many.
 */
export const propertyRuns = (usual: number): number => Math.ceil(usual * Number(process.env.PROPERTY_RUNS ?? 1));

interface Runs {
  readonly numRuns: number;
}

type Values = [unknown, ...unknown[]];
type Property<Ts extends Values, Result> = [
  ...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  predicate: (...values: Ts) => Result,
];
// biome-ignore lint/suspicious/noConfusingVoidType: a predicate returns false, or asserts by itself.
type Sync = boolean | void;

/** Requires that a property holds for values of the arbitraries: for a hundred, or for as many as the runs say. */
export function forAll<Ts extends Values>(...property: Property<Ts, Sync>): void;
export function forAll<Ts extends Values>(runs: Runs, ...property: Property<Ts, Sync>): void;
export function forAll(...given: unknown[]): void {
  const { runs, property } = divided(given);
  fc.assert(fc.property(...(property as Parameters<typeof fc.property>)), runs);
}

export function forAllAsync<Ts extends Values>(...property: Property<Ts, Promise<Sync>>): Promise<void>;
export function forAllAsync<Ts extends Values>(runs: Runs, ...property: Property<Ts, Promise<Sync>>): Promise<void>;
export function forAllAsync(...given: unknown[]): Promise<void> {
  const { runs, property } = divided(given);
  return fc.assert(fc.asyncProperty(...(property as Parameters<typeof fc.asyncProperty>)), runs);
}

function divided([first, ...rest]: unknown[]): { readonly runs: Runs | undefined; readonly property: unknown[] } {
  const hasRuns = typeof first === 'object' && first !== null && 'numRuns' in first;
  return hasRuns ? { runs: first as Runs, property: rest } : { runs: undefined, property: [first, ...rest] };
}
