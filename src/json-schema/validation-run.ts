/** State that the checks of a validation share; divides long values. */
import type { FieldError } from '../schema/field-error.ts';
import type { Progress } from './progress.ts';

/** Number of errors after which nothing more is checked. */
export const MAX_ERRORS = 1000;

export interface Run {
  readonly found: FieldError[];
  /** Number of applied schemas: when several alternatives fail, the one that fits most of the value is reported. */
  applied: number;
  readonly progress: Progress;
}

/** Adds the errors of a value. `old` is the value that the update replaces; undefined if it is not known. */
export type Check = (value: unknown, old: unknown, path: string, run: Run) => void;

/** Number of items or fields that are checked between two points where the validation may pause. */
export const PART_ITEMS = 64;

/** Checks items by their index until there are too many errors. The validation may pause after each part of many items. */
export function inParts(count: number, run: Run, check: (index: number, run: Run) => void): void {
  for (let start = 0; start < count && run.found.length < MAX_ERRORS; start += PART_ITEMS) {
    const end = Math.min(count, start + PART_ITEMS);
    const checkPart = (part: Run, maxErrors: number) => {
      for (let i = start; i < end && part.found.length < maxErrors; i++) check(i, part);
      return part;
    };
    if (count <= PART_ITEMS) checkPart(run, MAX_ERRORS);
    else
      merge(
        run,
        run.progress.once(() => checkPart(newRun(run), MAX_ERRORS - run.found.length)),
      );
  }
}

export const newRun = ({ progress }: Run): Run => ({ found: [], applied: 0, progress });

export function merge(run: Run, { found, applied }: Run): void {
  run.applied += applied;
  for (const error of found) run.found.push(error);
}
