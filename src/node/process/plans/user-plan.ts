/**
 * The steps that start a container of a user who is not root: in a user namespace, with its own files and processes, on the
 * network of the node. Performs nothing.
 */
import { CLONE, MS, type Step } from '../launcher/plan.ts';
import type { ContainerPlanInput } from './input.ts';
import { deviceMounts, etcMounts, remountReadOnly, volumeMounts } from './mounts.ts';
import { processSteps } from './process-steps.ts';

/** Directories of the node that containers with its files have for themselves. */
const OWN_DIRECTORIES = ['proc', 'dev', 'sys', 'tmp', 'run'];

export function userPlan(input: ContainerPlanInput, user: { readonly uid: number; readonly gid: number }): Step[] {
  const { config, identity } = input;
  return [
    ...namespaceSteps(input, user),
    ['unshare', CLONE.NEWNS],
    ['mount', 'none', '/', 'none', MS.REC | MS.SLAVE, ''],
    ...rootSteps(input),
    ['directory', '/proc'],
    ['mount', 'proc', '/proc', 'proc', MS.NOSUID | MS.NOEXEC | MS.NODEV, ''],
    ...deviceMounts(input),
    ['bind', 'sys', '/sys', MS.REC, 0],
    ...etcMounts(input),
    ...volumeMounts(input, true),
    ['detach'],
    ['read-only-tree', '/sys'],
    ...config.security.maskedPaths.map((path): Step => ['mask', path]),
    ['directory', identity.workingDirectory],
    ...(config.security.readOnlyRoot ? [remountReadOnly('/')] : []),
    ...(config.tty ? [['terminal'] satisfies Step] : []),
    ...processSteps({ ...input, isUserNamespace: true }),
    ['exec', ...identity.command],
  ];
}

/** Who shares processes with another container shares its user namespace, too, and so the meaning of user ids. */
function namespaceSteps(
  { identity, sandbox, holder, processTarget }: ContainerPlanInput,
  user: { readonly uid: number; readonly gid: number },
): Step[] {
  const shared = processTarget ?? holder?.init;
  if (shared !== undefined) {
    const names = ['user', 'pid', 'ipc', 'uts'];
    return [['namespaces', ...names.map((name) => `/proc/${shared}/ns/${name}`)], ['fork']];
  }
  return [
    ['user-namespace', identity.uid, user.uid, identity.gid, user.gid],
    ['unshare', CLONE.NEWPID | CLONE.NEWIPC | CLONE.NEWUTS],
    ['fork'],
    ['hostname', sandbox.hostname],
  ];
}

/** The files of the node cannot be put under a layer by somebody who does not own them: they are shown as they are. */
function rootSteps({ root }: ContainerPlanInput): Step[] {
  if (root.lower !== '/')
    return [
      ['overlay', root.target, root.lower, root.layer ?? '', 'userxattr'],
      ['pivot', root.target],
    ];
  return [
    ['mount', 'tmpfs', root.target, 'tmpfs', MS.NOSUID | MS.NODEV, 'mode=0755'],
    ['pivot', root.target],
    ['tree', ...OWN_DIRECTORIES],
    ['directory', '/tmp', '1777'],
    ['directory', '/run'],
  ];
}
