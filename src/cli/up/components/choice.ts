/** Which controllers run, in the syntax of kube-controller-manager: `*` for all, `NAME` for one, `-NAME` to exclude one. */
import type { Controller } from '../../../controllers/loop/define.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ComponentFlags } from './flags.ts';

type Choice = Pick<ComponentFlags, 'controllers'>;

/** The flag can name the scheduler, too. */
export const SCHEDULER = 'scheduler';

/** The chosen controllers, in the order of `all`. */
export function chosen(all: readonly Controller[], { controllers: items }: Choice): readonly Controller[] {
  const names = new Set([...all.map(({ name }) => name), SCHEDULER]);
  const unknown = items.find((item) => item !== '*' && !names.has(item.replace(/^-/, '')));
  if (unknown !== undefined) {
    throw new CliError(`--controllers: "${unknown}" is not one of *, ${[...names].sort().join(', ')}`);
  }
  return all.filter(({ name }) => isChosen(name, { controllers: items }));
}

export function isChosen(name: string, { controllers: items }: Choice): boolean {
  return !items.includes(`-${name}`) && (items.includes('*') || items.includes(name));
}
