/** Which controllers run, in the syntax of kube-controller-manager: `*` for all, `NAME` for one, `-NAME` to exclude one. */

import { SCHEDULER } from '../../../assembly/control-plane/components.ts';
import { allControllers } from '../../../controllers/all.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ComponentFlags } from './flags.ts';

type Choice = Pick<ComponentFlags, 'controllers'>;

/** Throws for a name that no controller has; the flag can name the scheduler, too. */
export function checkControllers({ controllers: items }: Choice, known: readonly string[] = controllerNames()): void {
  const names = new Set([...known, SCHEDULER]);
  const unknown = items.find((item) => item !== '*' && !names.has(item.replace(/^-/, '')));
  if (unknown === undefined) return;
  throw new CliError(`--controllers: "${unknown}" is not one of *, ${[...names].sort().join(', ')}`);
}

/** The names do not depend on the options; with a pod range, none is left out. */
function controllerNames(): readonly string[] {
  const unused = () => Promise.reject(new Error('this controller does not run'));
  return allControllers({
    kinds: () => [],
    aggregated: () => [],
    onKindsChange: () => () => {},
    podRange: '10.0.0.0/8',
    volumesDirectory: '',
    authority: '',
    mintToken: unused,
    signCertificate: unused,
    reservedNames: [],
    server: '',
  }).map(({ name }) => name);
}

export function isChosen(name: string, { controllers: items }: Choice): boolean {
  return !items.includes(`-${name}`) && (items.includes('*') || items.includes(name));
}
