/** Which controllers run, in the words of kube-controller-manager: `*` for all, `NAME` for one, `-NAME` for not that one. */
import type { Command } from 'commander';
import type { Controller } from '../../../controllers/loop/define.ts';
import * as value from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';

export interface ControllersFlags {
  readonly controllers: readonly string[];
}

export function withControllersFlags(command: Command): Command {
  return command.option('--controllers <list>', 'controllers to run: *, NAME, -NAME', value.list, ['*']);
}

/** Beside the controllers, the flag names the scheduler. */
export const SCHEDULER = 'scheduler';

/** Those that the flag asks for, in their own order. */
export function chosen(all: readonly Controller[], { controllers: words }: ControllersFlags): readonly Controller[] {
  const names = new Set([...all.map(({ name }) => name), SCHEDULER]);
  const unknown = words.find((word) => word !== '*' && !names.has(word.replace(/^-/, '')));
  if (unknown !== undefined) {
    throw new CliError(`--controllers: "${unknown}" is none of *, ${[...names].sort().join(', ')}`);
  }
  return all.filter(({ name }) => isChosen(name, { controllers: words }));
}

export function isChosen(name: string, { controllers: words }: ControllersFlags): boolean {
  return !words.includes(`-${name}`) && (words.includes('*') || words.includes(name));
}
