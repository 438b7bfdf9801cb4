/** The units of cel-go's cost model, with which Kubernetes' limits are meant. */

/** Per character of a string that a function reads. */
export const STRING_TRAVERSAL_FACTOR = 0.1;
/** Per character of a regular expression. */
export const REGEX_LENGTH_FACTOR = 0.25;
/** Reading a variable or a field. */
export const SELECT_COST = 1;
export const LIST_COST = 10;
export const MAP_COST = 30;
export const OBJECT_COST = 40;

/**
 * Operations that cel-go counts as one unit are charged by the size beyond this one: equality, concatenation and sizes.
 * A loop of cheap steps could otherwise keep the process busy for minutes.
 */
const UNCHARGED_STEPS = 1_000;
const STEPS_PER_UNIT = 100;

/** Units for work that is free up to a size. */
export function bulkCost(steps: number): number {
  return steps <= UNCHARGED_STEPS ? 0 : Math.floor((steps - UNCHARGED_STEPS) / STEPS_PER_UNIT);
}

/** Units for list items that a function copies beyond those that are free: they are kept in memory. */
export function copyingCost(items: number): number {
  return Math.max(0, items - UNCHARGED_STEPS);
}

/** Units for characters that a function adds to those that it reads. */
export function growthCost(read: number, made: number): number {
  return traversalCost(Math.max(0, made - read - UNCHARGED_STEPS));
}

/**
 * A comparison cannot be interrupted: one of more steps fails, and a function that could need more is never paid for. The
 * largest objects have as many fields and list items.
 */
export const MAX_COMPARED_STEPS = 250_000;

/** Returns the units for comparisons that take up to `steps` steps. */
export function comparisonCost(steps: number): number {
  return steps > MAX_COMPARED_STEPS ? Number.POSITIVE_INFINITY : bulkCost(steps);
}

/** Returns the units for reading this many characters. */
export function traversalCost(characters: number): number {
  return Math.ceil(characters * STRING_TRAVERSAL_FACTOR);
}

/** Functions that could make longer strings out of short ones fail. */
export const MAX_TEXT_CHARACTERS = 10_000_000;
