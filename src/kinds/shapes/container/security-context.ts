/** With which rights a pod and its containers run. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required, tooLong } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { descendingPath } from '../meta/paths.ts';
import { WindowsSecurityContextOptions } from './windows-options.ts';

const text = s.string({ omitZero: true });

const SELinuxOptions = s.object('SELinuxOptions', { user: text, role: text, type: text, level: text });

const profile = { type: s.string({ zero: true }), localhostProfile: s.string() };
type Profile = ObjectType<typeof profile>;

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

const SeccompProfile = s.object('SeccompProfile', profile, { rules: [seccomp] });
const AppArmorProfile = s.object('AppArmorProfile', profile, { rules: [appArmor] });

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

/** The longest path that Linux knows. */
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
  capabilities: s.object('Capabilities', { add: s.list(s.string()), drop: s.list(s.string()) }),
  privileged: s.boolean(),
  seLinuxOptions: SELinuxOptions,
  windowsOptions: WindowsSecurityContextOptions,
  runAsUser: s.int64(id),
  runAsGroup: s.int64(id),
  runAsNonRoot: s.boolean(),
  readOnlyRootFilesystem: s.boolean(),
  allowPrivilegeEscalation: s.boolean(),
  procMount: s.enum(['Default', 'Unmasked']),
  seccompProfile: SeccompProfile,
  appArmorProfile: AppArmorProfile,
};
export type SecurityContext = ObjectType<typeof container>;

/** For one container; what it sets wins over the pod's. */
export const SecurityContext = s.object('SecurityContext', container, { rules: [escalation] });

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

const sysctl = { name: s.string({ zero: true }), value: s.string({ zero: true }) };

const pod = {
  seLinuxOptions: SELinuxOptions,
  windowsOptions: WindowsSecurityContextOptions,
  runAsUser: s.int64(id),
  runAsGroup: s.int64(id),
  runAsNonRoot: s.boolean(),
  supplementalGroups: s.list(s.int64(id)),
  supplementalGroupsPolicy: s.enum(['Merge', 'Strict']),
  fsGroup: s.int64(id),
  sysctls: s.list(s.object('Sysctl', sysctl), { rules: [sysctls] }),
  fsGroupChangePolicy: s.enum(['Always', 'OnRootMismatch']),
  seccompProfile: SeccompProfile,
  appArmorProfile: AppArmorProfile,
  seLinuxChangePolicy: s.enum(['MountOption', 'Recursive']),
};
export type PodSecurityContext = ObjectType<typeof pod>;

/** For all containers of a pod. */
export const PodSecurityContext = s.object('PodSecurityContext', pod);

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
