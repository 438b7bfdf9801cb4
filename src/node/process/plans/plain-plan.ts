/** The steps where a container is a process of the node without namespaces: its files and network are the node's. */
import type { ContainerConfig } from '../../runtime/container-config.ts';
import type { Step } from '../launcher/plan.ts';
import type { ProcessIdentity } from './identity.ts';

export function plainPlan(config: ContainerConfig, identity: ProcessIdentity, cgroups: readonly string[]): Step[] {
  return [
    ['fork'],
    ...cgroups.map((file): Step => ['write', file, '0']),
    ...(config.tty ? [['terminal'] satisfies Step] : []),
    ...steps(identity),
    ['exec', ...identity.command],
  ];
}

export function plainExecPlan(
  identity: ProcessIdentity,
  cgroups: readonly string[],
  tty: boolean,
  command: readonly string[],
): Step[] {
  return [
    ['fork'],
    ...cgroups.map((file): Step => ['write', file, '0']),
    ...(tty ? [['terminal'] satisfies Step] : []),
    ...steps(identity),
    ['exec', ...command],
  ];
}

function steps({ env, workingDirectory }: ProcessIdentity): Step[] {
  return [['env', ...env], ['working-directory', workingDirectory], ['dies-with-parent']];
}
