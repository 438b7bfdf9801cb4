/** The last steps before a command: environment, user, capabilities and working directory. */
import type { ContainerConfig } from '../../runtime/container-config.ts';
import type { Step } from '../launcher/plan.ts';
import { droppedCapabilities } from './capabilities.ts';
import type { ProcessIdentity } from './identity.ts';
import { deniedSyscalls } from './seccomp.ts';

export interface ProcessStepsInput {
  readonly config: ContainerConfig;
  readonly identity: ProcessIdentity;
  readonly architecture: string;
  readonly isUserNamespace: boolean;
}

/** What a process becomes right before its command: environment, directory, user, capabilities. */
export function processSteps({ config, identity, architecture, isUserNamespace }: ProcessStepsInput): Step[] {
  const { security } = config;
  const dropped = droppedCapabilities(security);
  const isFiltered = !security.privileged && security.seccomp?.type === 'runtime-default';
  return [
    ['env', ...identity.env],
    ...(dropped.length > 0 ? [['bounding', ...dropped] satisfies Step] : []),
    // A user who is not root cannot choose groups.
    ...(isUserNamespace ? [] : [['groups', ...identity.groups] satisfies Step]),
    ['gid', identity.gid],
    // A filter may be set before the user changes, by root; the calls after it are none that it forbids.
    ...(isFiltered ? [['seccomp', deniedSyscalls(architecture)] satisfies Step] : []),
    ['uid', identity.uid],
    ['dies-with-parent'],
    ['working-directory', identity.workingDirectory],
    ...(security.noNewPrivileges ? [['no-new-privileges'] satisfies Step] : []),
  ];
}
