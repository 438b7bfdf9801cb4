/** Security settings of pods and containers. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required, tooLong } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { descendingPath } from '../meta/paths.ts';
import { WindowsSecurityContextOptions } from './windows-options.ts';

const SELinuxOptions = s.object('SELinuxOptions', 'SELinux labels of the processes and files of a container.', {
  user: s.string('SELinux user label, such as system_u.', { omitZero: true }),
  role: s.string('SELinux role label, such as system_r.', { omitZero: true }),
  type: s.string('SELinux type label, such as container_t.', { omitZero: true }),
  level: s.string('SELinux level label, such as s0:c123,c456.', { omitZero: true }),
});

const profile = {
  type: s.string(
    'Kind of profile: RuntimeDefault for the default profile of the container runtime, Localhost for a ' +
      'profile on the node, Unconfined for none.',
    { zero: true },
  ),
  localhostProfile: s.string(
    'Profile on the node; set if and only if type is Localhost. For seccomp, a path relative to the seccomp ' +
      'directory of the kubelet; for AppArmor, the name of a loaded profile.',
  ),
};
type Profile = ObjectType<typeof profile>;

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

const SeccompProfile = s.object(
  'SeccompProfile',
  'Seccomp profile: restricts the system calls that processes may make.',
  profile,
  { rules: [seccomp] },
);
const AppArmorProfile = s.object('AppArmorProfile', 'AppArmor profile: restricts what processes may access.', profile, {
  rules: [appArmor],
});

function profileType(type: string, field: string): FieldError[] {
  if (!type) return [required('type', `type is required when ${field} is set`)];
  return profileTypes.includes(type) ? [] : [notSupported('type', type, profileTypes)];
}

function seccomp(value: Profile): FieldError[] {
  const { type, localhostProfile: path } = value;
  const found = profileType(type, 'seccompProfile');
  if (type !== 'Localhost') {
    if (path === undefined) return found;
    return [...found, invalid('localhostProfile', value, 'can only be set when seccomp type is Localhost')];
  }
  if (path === undefined) return [required('localhostProfile', 'must be set when seccomp type is Localhost')];
  return descendingPath(path).map((complaint) => invalid('localhostProfile', path, complaint));
}

/** The maximum path length of Linux (PATH_MAX). */
const MAX_PATH = 4095;

function appArmor({ type, localhostProfile: name }: Profile): FieldError[] {
  const found = profileType(type, 'appArmorProfile');
  if (found.length) return found;
  if (type !== 'Localhost') {
    if (name === undefined) return [];
    return [invalid('localhostProfile', name, 'can only be set when AppArmor type is Localhost')];
  }
  if (name !== undefined && name.trim() !== name) {
    found.push(invalid('localhostProfile', name, 'must not be padded with whitespace'));
  } else if (!name) {
    found.push(required('localhostProfile', 'must be set when AppArmor type is Localhost'));
  }
  if (name && Buffer.byteLength(name) > MAX_PATH) found.push(tooLong('localhostProfile', MAX_PATH));
  return found;
}

/** User and group ids. */
const id = { min: 0, max: 2 ** 31 - 1 } as const;

const container = {
  capabilities: s.object(
    'Capabilities',
    'Linux capabilities added to or removed from the default set of the container runtime.',
    {
      add: s.list(s.string(), 'Capabilities to add, without the CAP_ prefix, such as NET_ADMIN.'),
      drop: s.list(s.string(), 'Capabilities to remove, without the CAP_ prefix. ALL removes all of them.'),
    },
  ),
  privileged: s.boolean(
    'Runs the container with all capabilities and access to the devices of the node, which is equivalent to ' +
      'root on the node. Defaults to false.',
  ),
  seLinuxOptions: s.use(
    SELinuxOptions,
    'SELinux labels of the container. Defaults to those of the pod, or labels chosen by the container ' + 'runtime.',
  ),
  windowsOptions: s.use(WindowsSecurityContextOptions, 'Settings for Windows. Not allowed when spec.os.name is linux.'),
  runAsUser: s.int64(
    'User ID that runs the entrypoint. Defaults to that of the pod, then to the user of the image.',
    id,
  ),
  runAsGroup: s.int64(
    'Primary group ID of the entrypoint. Defaults to that of the pod, then to that of the container runtime.',
    id,
  ),
  runAsNonRoot: s.boolean(
    'If true, the container does not start when it would run as user 0. Defaults to the setting of the pod.',
  ),
  readOnlyRootFilesystem: s.boolean('Mounts the root file system of the container read-only. Defaults to false.'),
  allowPrivilegeEscalation: s.boolean(
    'Whether a process can gain more privileges than its parent, as through setuid programs. Defaults to ' +
      'true; always true for privileged containers.',
  ),
  procMount: s.enum(
    ['Default', 'Unmasked'],
    'How /proc is mounted: Default masks some paths and makes others read-only, Unmasked does not and ' +
      'requires hostUsers to be false. Defaults to Default.',
  ),
  seccompProfile: s.use(SeccompProfile, 'Seccomp profile of the container. Defaults to that of the pod.'),
  appArmorProfile: s.use(AppArmorProfile, 'AppArmor profile of the container. Defaults to that of the pod.'),
};
export type SecurityContext = ObjectType<typeof container>;

/** Settings of one container, which override those of the pod. */
export const SecurityContext = s.object(
  'SecurityContext',
  "Security settings of a container. Fields that are also in the pod's security context override it.",
  container,
  { rules: [escalation] },
);

function escalation(value: SecurityContext): FieldError[] {
  if (value.allowPrivilegeEscalation !== false) return [];
  const found: FieldError[] = [];
  if (value.privileged) {
    found.push(invalid('', value, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
  }
  if (value.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    found.push(invalid('', value, detail));
  }
  return found;
}

const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const sysctlPattern = new RegExp(SYSCTL);
const MAX_SYSCTL = 253;

const sysctl = {
  name: s.string('Name of the parameter, such as net.core.somaxconn.', { zero: true }),
  value: s.string('Value of the parameter, as text.', { zero: true }),
};

const pod = {
  seLinuxOptions: s.use(SELinuxOptions, 'SELinux labels for all containers. A container can override them.'),
  windowsOptions: s.use(
    WindowsSecurityContextOptions,
    'Settings for Windows for all containers. Not allowed when spec.os.name is linux.',
  ),
  runAsUser: s.int64('User ID that runs the entrypoint of every container. Defaults to the user of each image.', id),
  runAsGroup: s.int64(
    'Primary group ID of the entrypoint of every container. Defaults to that of the container runtime.',
    id,
  ),
  runAsNonRoot: s.boolean('If true, containers that would run as user 0 do not start. A container can override it.'),
  supplementalGroups: s.list(s.int64(id), 'Additional group IDs of the first process of every container.'),
  supplementalGroupsPolicy: s.enum(
    ['Merge', 'Strict'],
    'Which additional groups processes have: Merge adds the groups that the image defines for the user, ' +
      'Strict uses only fsGroup, supplementalGroups and runAsGroup. Defaults to Merge.',
  ),
  fsGroup: s.int64(
    'Group ID that owns the files in volumes that support it; it is also an additional group of all ' + 'containers.',
    id,
  ),
  sysctls: s.list(
    s.object('Sysctl', 'A kernel parameter of the namespaces of a pod.', sysctl),
    "Kernel parameters of the pod's namespaces. Names must be unique, and the node may reject parameters " +
      'that it does not allow.',
    { rules: [sysctls] },
  ),
  fsGroupChangePolicy: s.enum(
    ['Always', 'OnRootMismatch'],
    'When the ownership of a volume is changed to fsGroup: Always on every mount, OnRootMismatch only if the ' +
      'root directory does not match. Defaults to Always.',
  ),
  seccompProfile: s.use(SeccompProfile, 'Seccomp profile of all containers. A container can override it.'),
  appArmorProfile: s.use(AppArmorProfile, 'AppArmor profile of all containers. A container can override it.'),
  seLinuxChangePolicy: s.enum(
    ['MountOption', 'Recursive'],
    'How SELinux labels are applied to volumes: MountOption through a mount option, Recursive by relabelling ' +
      'every file. Defaults to MountOption.',
  ),
};
export type PodSecurityContext = ObjectType<typeof pod>;

/** Settings for all containers of a pod. */
export const PodSecurityContext = s.object(
  'PodSecurityContext',
  'Security settings of a pod. Some of them are defaults for its containers, which can override them.',
  pod,
);

function sysctls(list: readonly ObjectType<typeof sysctl>[]): FieldError[] {
  const seen = new Set<string>();
  return list.flatMap(({ name }, index) => {
    const field = `[${index}].name`;
    if (!name) return [required(field)];
    if (name.length > MAX_SYSCTL || !sysctlPattern.test(name)) {
      return [invalid(field, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`)];
    }
    if (seen.has(name)) return [duplicate(field, name)];
    seen.add(name);
    return [];
  });
}
