/** Messages about damaged values. */
import type { StoreReport } from '../../../store/driver.ts';
import { CliError } from '../../output/cli-error.ts';
import { print } from './store.ts';

export function list({ damaged }: StoreReport): void {
  for (const { key, revision } of damaged) print(`damaged: ${key ?? 'a replaced value'} (revision ${revision})`);
}

/** Throws when a value is damaged. `path` is what was checked. */
export function checkIntact(path: string, { damaged }: StoreReport, solution = 'use another snapshot'): void {
  if (damaged.length === 0) return;
  const values = damaged.length === 1 ? '1 value' : `${damaged.length} values`;
  throw new CliError(`${path} is damaged: ${values} cannot be read; ${solution}`);
}
