/** Annotations with a meaning for pods, most of them older forms of fields. Paths are relative to the annotations. */
import { addAll } from '../../../base/collections/add-all.ts';
import { type FieldError, forbidden, invalid } from '../../../schema/field-error.ts';
import { visitContainers } from '../container/container-rules.ts';
import { descendingPath } from '../meta/paths.ts';
import type { PodSpec } from './pod-spec.ts';

type Annotations = Readonly<Record<string, string>>;

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';

/** Marks a mirror pod: the API object of a static pod. */
export const MIRROR = 'kubernetes.io/config.mirror';

export function podAnnotations(annotations: Annotations | undefined, spec: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  for (const key in annotations) {
    const value = annotations[key]!;
    if (key === MIRROR) {
      if (!spec.nodeName) {
        found.push(invalid(`[${key}]`, value, 'must set spec.nodeName if mirror pod annotation is set'));
      }
    } else if (key === DELETION_COST) {
      if (!isInt32(value)) found.push(invalid(`[${key}]`, value, 'must be a 32bit integer'));
    } else if (key.startsWith(APPARMOR_CONTAINER)) {
      addAll(found, appArmor(key, value, spec));
    } else if (isProfile(key)) {
      for (const complaint of seccompProfile(value)) found.push(invalid(key, value, complaint));
    }
  }
  return found;
}

/** Annotations that cannot be changed after creation. */
export function podAnnotationChanges(annotations: Annotations = {}, old: Annotations = {}): FieldError[] {
  const found: FieldError[] = [];
  for (const key of new Set([...Object.keys(old), ...Object.keys(annotations)])) {
    if (annotations[key] === old[key]) continue;
    const verb = old[key] === undefined ? 'add' : 'remove or update';
    if (key.startsWith(APPARMOR_CONTAINER)) found.push(forbidden(`[${key}]`, `may not ${verb} AppArmor annotations`));
    if (key === MIRROR) found.push(forbidden(`[${key}]`, `may not ${verb} mirror pod annotation`));
  }
  return found;
}

/** An integer without leading zeros or plus sign. */
const isInt32 = (text: string): boolean => /^(0|-?[1-9]\d{0,9})$/.test(text) && (Number(text) | 0) === Number(text);

function seccompProfile(text: string): string[] {
  if (text === 'runtime/default' || text === 'docker/default' || text === 'unconfined') return [];
  if (text.startsWith('localhost/')) return descendingPath(text.slice('localhost/'.length));
  return ['must be a valid seccomp profile'];
}

function appArmor(key: string, profile: string, spec: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  const container = key.slice(APPARMOR_CONTAINER.length);
  let known = false;
  visitContainers(spec, ({ name }) => {
    known ||= name === container;
  });
  if (!known) found.push(invalid(`[${key}]`, container, 'container not found'));
  const plain = profile === '' || profile === 'runtime/default' || profile === 'unconfined';
  if (!plain && !profile.startsWith('localhost/')) {
    found.push(invalid(`[${key}]`, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
  }
  return found;
}

const isProfile = (key: string): boolean =>
  key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER) || key.startsWith(APPARMOR_CONTAINER);

/** A profile that is given in both forms must be the same in both. Paths are relative to the spec. */
export function annotatedProfiles(annotations: Annotations | undefined, spec: PodSpec): FieldError[] {
  if (!annotations || !Object.keys(annotations).some(isProfile)) return [];
  const { seccompProfile: seccomp, appArmorProfile: ofPod } = spec.securityContext;
  const found = sameProfile('seccomp', seccomp, annotations[SECCOMP_POD], 'securityContext.seccompProfile');
  visitContainers(spec, ({ name, securityContext }, path) => {
    const own = `${path}.securityContext`;
    const annotated = annotations[SECCOMP_CONTAINER + name];
    addAll(found, sameProfile('seccomp', securityContext?.seccompProfile, annotated, `${own}.seccompProfile`));
    if (spec.os?.name === 'windows') return;
    const profile = securityContext?.appArmorProfile ?? ofPod;
    addAll(found, sameProfile('apparmor', profile, annotations[APPARMOR_CONTAINER + name], `${own}.appArmorProfile`));
  });
  return found;
}

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

function sameProfile(
  what: 'seccomp' | 'apparmor',
  profile: Profile | undefined,
  annotation: string | undefined,
  path: string,
): FieldError[] {
  if (!profile || annotation === undefined) return [];
  const { type, localhostProfile } = profile;
  const differs = [forbidden(`${path}.type`, `${what} type in annotation and field must match`)];
  if (type === 'Unconfined') return annotation === 'unconfined' ? [] : differs;
  if (type === 'RuntimeDefault') {
    return annotation === 'runtime/default' || (what === 'seccomp' && annotation === 'docker/default') ? [] : differs;
  }
  if (type !== 'Localhost') return [];
  if (!annotation.startsWith('localhost/')) return differs;
  if (annotation.slice('localhost/'.length) === localhostProfile) return [];
  return [forbidden(`${path}.localhostProfile`, `${what} profile in annotation and field must match`)];
}
