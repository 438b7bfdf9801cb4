/** With which rights a pod and its containers run. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

const SELinuxOptions = s.object('SELinuxOptions', {
  user: s.string(),
  role: s.string(),
  type: s.string(),
  level: s.string(),
});

const WindowsSecurityContextOptions = s.object('WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: s.string(),
  gmsaCredentialSpec: s.string(),
  runAsUserName: s.string(),
  hostProcess: s.boolean(),
});
export type WindowsSecurityContextOptions = TypeOf<typeof WindowsSecurityContextOptions>;

const SeccompProfile = s.object('SeccompProfile', { type: s.string({ zero: true }), localhostProfile: s.string() });

const AppArmorProfile = s.object('AppArmorProfile', { type: s.string({ zero: true }), localhostProfile: s.string() });

const Capabilities = s.object('Capabilities', { add: s.list(s.string()), drop: s.list(s.string()) });

/** For one container; what it sets wins over the pod's. */
export const SecurityContext = s.object('SecurityContext', {
  capabilities: Capabilities,
  privileged: s.boolean(),
  seLinuxOptions: SELinuxOptions,
  windowsOptions: WindowsSecurityContextOptions,
  runAsUser: s.int64(),
  runAsGroup: s.int64(),
  runAsNonRoot: s.boolean(),
  readOnlyRootFilesystem: s.boolean(),
  allowPrivilegeEscalation: s.boolean(),
  procMount: s.string(),
  seccompProfile: SeccompProfile,
  appArmorProfile: AppArmorProfile,
});
export type SecurityContext = TypeOf<typeof SecurityContext>;

const Sysctl = s.object('Sysctl', { name: s.string({ zero: true }), value: s.string({ zero: true }) });

/** For all containers of a pod. */
export const PodSecurityContext = s.object('PodSecurityContext', {
  seLinuxOptions: SELinuxOptions,
  windowsOptions: WindowsSecurityContextOptions,
  runAsUser: s.int64(),
  runAsGroup: s.int64(),
  runAsNonRoot: s.boolean(),
  supplementalGroups: s.list(s.int64()),
  supplementalGroupsPolicy: s.string(),
  fsGroup: s.int64(),
  sysctls: s.list(Sysctl),
  fsGroupChangePolicy: s.string(),
  seccompProfile: SeccompProfile,
  appArmorProfile: AppArmorProfile,
  seLinuxChangePolicy: s.string(),
});
export type PodSecurityContext = TypeOf<typeof PodSecurityContext>;
