/** The steps that make the namespaces of a sandbox. Performs nothing. */
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { CLONE, type Step } from '../launcher/plan.ts';

/** Empty if the sandbox has no namespaces of its own. */
export function sandboxPlan({ namespaces, hostname, sysctls }: SandboxConfig): Step[] {
  const hasNetwork = namespaces.network === 'pod';
  const flags =
    (hasNetwork ? CLONE.NEWNET | CLONE.NEWUTS : 0) |
    (namespaces.ipc === 'pod' ? CLONE.NEWIPC : 0) |
    (namespaces.pid === 'pod' ? CLONE.NEWPID : 0);
  if (flags === 0) return [];
  return [
    ['unshare', flags],
    ...(hasNetwork ? [['hostname', hostname] satisfies Step] : []),
    ...Object.entries(sysctls).map(([name, value]): Step => ['write', `/proc/sys/${name.replaceAll('.', '/')}`, value]),
    ...(namespaces.pid === 'pod' ? [['fork'] satisfies Step, ['init'] satisfies Step] : []),
  ];
}

/** The same for a user who is not root: only a pod whose containers share their processes needs it. */
export function userSandboxPlan(
  { namespaces, hostname, security }: SandboxConfig,
  user: { readonly uid: number; readonly gid: number },
): Step[] {
  if (namespaces.pid !== 'pod') return [];
  return [
    ['user-namespace', security.runAsUser ?? 0, user.uid, security.runAsGroup ?? 0, user.gid],
    ['unshare', CLONE.NEWPID | CLONE.NEWIPC | CLONE.NEWUTS],
    ['hostname', hostname],
    ['fork'],
    ['init'],
  ];
}
