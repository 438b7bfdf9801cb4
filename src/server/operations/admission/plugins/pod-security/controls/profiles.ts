/** Security profiles: AppArmor, seccomp, SELinux. */
import type { Container } from '../../../../../../kinds/shapes/container/container.ts';
import {
  type Control,
  containers,
  containersWhere,
  distinct,
  type PodLike,
  plural,
  quoted,
  setters,
  unlessWindows,
} from '../control.ts';

const goodProfiles = ['RuntimeDefault', 'Localhost'];
const isGood = (type: string) => goodProfiles.includes(type);

type Field = 'appArmorProfile' | 'seccompProfile';
const profileOf = ({ securityContext }: Pick<Container, 'securityContext'>, field: Field) =>
  securityContext?.[field]?.type;

/** Returns the pod and containers with a forbidden profile, and the profiles. */
function badProfiles(pod: PodLike, field: Field): { isPod: boolean; names: string[]; values: string[] } {
  const values: string[] = [];
  const own = pod.spec.securityContext?.[field]?.type;
  const isPod = own !== undefined && !isGood(own);
  if (isPod) values.push(own);
  const names = containersWhere(pod, (container) => {
    const type = profileOf(container, field);
    if (type === undefined || isGood(type)) return false;
    values.push(type);
    return true;
  });
  return { isPod, names, values: distinct(values) };
}

const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

function isGoodAppArmor(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/');
}

export const appArmorProfile: Control = {
  id: 'appArmorProfile',
  level: 'baseline',
  forms: [
    {
      since: 0,
      judge(pod) {
        const { isPod, names, values } = badProfiles(pod, 'appArmorProfile');
        const annotations = Object.entries(pod.metadata?.annotations ?? {})
          .filter(([key, value]) => key.startsWith(APP_ARMOR_ANNOTATION) && !isGoodAppArmor(value))
          .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
          .sort();
        const who = [setters(isPod, names), annotations.length > 0 ? plural(annotations.length, 'annotation') : '']
          .filter((each) => each !== '')
          .join(' and ');
        if (!who) return undefined;
        const all = [...values, ...annotations];
        return {
          reason: plural(all.length, 'forbidden AppArmor profile'),
          detail: `${who} must not set AppArmor profile type to ${quoted(all)}`,
        };
      },
    },
  ],
};

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';

/** Checks the annotations for the profile from before the field existed. */
function badSeccompAnnotations(pod: PodLike) {
  const annotations = pod.metadata?.annotations ?? {};
  const keys = [SECCOMP_POD];
  containersWhere(pod, ({ name }) => keys.push(SECCOMP_CONTAINER + name) > 0);
  const wrong = distinct(
    keys
      .filter((key) => annotations[key] !== undefined && !isGoodSeccomp(annotations[key]!))
      .map((key) => `${key}=${JSON.stringify(annotations[key])}`),
  );
  if (wrong.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${plural(wrong.length, 'annotation')} ${wrong.join(', ')}` };
}

function isGoodSeccomp(profile: string): boolean {
  return profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/');
}

function badSeccomp(pod: PodLike) {
  const { isPod, names, values } = badProfiles(pod, 'seccompProfile');
  const who = setters(isPod, names);
  if (!who) return undefined;
  const detail = `${who} must not set securityContext.seccompProfile.type to ${quoted(values)}`;
  return { reason: 'seccompProfile', detail };
}

export const seccompProfileBaseline: Control = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  forms: [
    { since: 0, judge: badSeccompAnnotations },
    { since: 19, judge: badSeccomp },
  ],
};

const badOrNoSeccomp = (pod: PodLike) => {
  const bad = badSeccomp(pod);
  if (bad) return bad;
  const own = pod.spec.securityContext?.seccompProfile;
  const silent = containersWhere(pod, (each) => !own && each.securityContext?.seccompProfile === undefined);
  if (silent.length === 0) return undefined;
  const wanted = goodProfiles.map((each) => `"${each}"`).join(' or ');
  const detail = `pod or ${containers(silent)} must set securityContext.seccompProfile.type to ${wanted}`;
  return { reason: 'seccompProfile', detail };
};

export const seccompProfileRestricted: Control = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  replaces: seccompProfileBaseline.id,
  forms: [
    { since: 19, judge: badOrNoSeccomp },
    { since: 25, judge: unlessWindows(badOrNoSeccomp) },
  ],
};

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

export const seLinuxOptions: Control = {
  id: 'seLinuxOptions',
  level: 'baseline',
  forms: [
    { since: 0, judge: (pod) => badSeLinux(pod, seLinuxTypes) },
    { since: 31, judge: (pod) => badSeLinux(pod, [...seLinuxTypes, 'container_engine_t']) },
  ],
};

type SeLinux = NonNullable<NonNullable<Container['securityContext']>['seLinuxOptions']>;

function badSeLinux(pod: PodLike, allowed: readonly string[]) {
  const types: string[] = [];
  const set = { user: false, role: false };
  const isBad = (options: SeLinux | undefined) => {
    if (!options) return false;
    const { type = '', user, role } = options;
    const isBadType = !allowed.includes(type);
    if (isBadType) types.push(type);
    if (user) set.user = true;
    if (role) set.role = true;
    return isBadType || Boolean(user) || Boolean(role);
  };
  const isPod = isBad(pod.spec.securityContext?.seLinuxOptions);
  const who = setters(
    isPod,
    containersWhere(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions)),
  );
  if (!who) return undefined;
  const wrong = distinct(types);
  const data = [
    ...(wrong.length > 0 ? [`${plural(wrong.length, 'type')} ${quoted(wrong)}`] : []),
    ...(set.user ? ['user may not be set'] : []),
    ...(set.role ? ['role may not be set'] : []),
  ];
  const detail = `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`;
  return { reason: 'seLinuxOptions', detail };
}
