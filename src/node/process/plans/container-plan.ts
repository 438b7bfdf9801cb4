/** The steps that start a container: its namespaces, root, mounts, limits, user and command. Performs nothing. */
import { CLONE, MS, type Step } from '../launcher/plan.ts';
import type { ContainerPlanInput } from './input.ts';
import { etcMounts, kernelMounts, remountReadOnly, volumeMounts } from './mounts.ts';
import { processSteps } from './process-steps.ts';

export function containerPlan(input: ContainerPlanInput): Step[] {
  const { config, identity } = input;
  return [
    ...processNamespace(input),
    ['fork'],
    ...input.cgroups.map((file): Step => ['write', file, '0']),
    ...(config.resources.oomScoreAdj === undefined
      ? []
      : [['try-write', '/proc/self/oom_score_adj', String(config.resources.oomScoreAdj)] satisfies Step]),
    ...sharedNamespaces(input),
    ['unshare', CLONE.NEWNS | (input.cgroups.length > 0 ? CLONE.NEWCGROUP : 0)],
    ['mount', 'none', '/', 'none', MS.REC | MS.SLAVE, ''],
    ['overlay', input.root.target, input.root.lower, input.root.layer ?? ''],
    ['pivot', input.root.target],
    ...kernelMounts(input),
    ...etcMounts(input),
    ...volumeMounts(input),
    ['detach'],
    ...config.security.maskedPaths.map((path): Step => ['mask', path]),
    ...config.security.readOnlyPaths.map((path): Step => ['readonly', path]),
    ['directory', identity.workingDirectory],
    ...(config.security.readOnlyRoot ? [remountReadOnly('/')] : []),
    ...(config.tty ? [['terminal'] satisfies Step] : []),
    ...processSteps({ ...input, isUserNamespace: false }),
    ['exec', ...identity.command],
  ];
}

/** The steps of exec in a container that runs. */
export function execPlan(
  input: Pick<ContainerPlanInput, 'config' | 'identity' | 'cgroups' | 'architecture'> & {
    readonly pid: number;
    readonly isUserNamespace: boolean;
    readonly tty: boolean;
    readonly command: readonly string[];
  },
): Step[] {
  return [
    ...input.cgroups.map((file): Step => ['write', file, '0']),
    [
      'namespaces',
      ...[...(input.isUserNamespace ? ['user'] : ['cgroup', 'net']), 'ipc', 'uts', 'pid', 'mnt'].map(
        (name) => `/proc/${input.pid}/ns/${name}`,
      ),
    ],
    ['fork'],
    ...(input.tty ? [['terminal'] satisfies Step] : []),
    ...processSteps(input),
    ['exec', ...input.command],
  ];
}

function processNamespace({ config, holder, processTarget }: ContainerPlanInput): Step[] {
  if (processTarget !== undefined) return [['namespaces', `/proc/${processTarget}/ns/pid`]];
  switch (config.security.pid) {
    case 'container':
      return [['unshare', CLONE.NEWPID]];
    case 'pod':
      return holder ? [['namespaces', `/proc/${holder.init}/ns/pid`]] : [['unshare', CLONE.NEWPID]];
    default:
      return [];
  }
}

function sharedNamespaces({ sandbox, holder }: ContainerPlanInput): Step[] {
  if (!holder) return [];
  const shared = [
    ...(sandbox.namespaces.network === 'pod' ? ['net', 'uts'] : []),
    ...(sandbox.namespaces.ipc === 'pod' ? ['ipc'] : []),
  ];
  return shared.length > 0 ? [['namespaces', ...shared.map((name) => `/proc/${holder.pid}/ns/${name}`)]] : [];
}
