/** Warnings about a pod, or about a pod template. */
import { addAll } from '../../base/collections/add-all.ts';
import { dnsLabel } from '../../schema/names.ts';
import type { KubeObject } from '../kind.ts';
import type { PodSpec } from '../shapes/pod/pod-spec.ts';
import type { PodAffinityTerm } from '../shapes/pod/scheduling/affinity.ts';
import { ipWarnings } from './addresses.ts';
import { containerWarnings } from './containers.ts';
import { claimSpecWarnings, warnOfFraction } from './fractions.ts';
import { nodeLabelWarning, termWarnings } from './node-labels.ts';
import { overlapWarnings } from './volume-paths.ts';

/** The parts of a pod or of a template that warnings are about. */
export interface PodLike {
  readonly metadata?: Pick<KubeObject['metadata'], 'annotations'> | undefined;
  readonly spec?: PodSpec | undefined;
}

type Annotations = Readonly<Record<string, string>> | undefined;

/** Warnings about a new pod. A spec that is known to be `quiet` is checked only with regard to annotations. */
export function podWarnings(pod: KubeObject & PodLike, quiet?: object): string[] {
  const found = nameWarnings(pod, "this is used in the Pod's hostname");
  if (pod.spec !== quiet || legacyAnnotations(pod.metadata.annotations)) addPodWarnings(found, pod, '');
  return found;
}

/** Why the name of a new workload should be a DNS label. */
export const NAMES_PODS = 'this is used in Pod names and hostnames';

export function nameWarnings({ metadata: { name = '' } }: KubeObject, why: string): string[] {
  const complaints = dnsLabel(name);
  if (complaints.length === 0) return complaints;
  const advice = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: ${why}, ${advice}: [${complaints.join(' ')}]`];
}

/** `path` leads to the template. */
export function templateWarnings(template: PodLike | undefined, path: string): string[] {
  const found: string[] = [];
  if (template) addPodWarnings(found, template, `${path}.`);
  return found;
}

const SOURCES: ReadonlyMap<string, string> = new Map([
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]);
type Volume = NonNullable<PodSpec['volumes']>[number];

const ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

const SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';

/** `head` is empty or ends with a dot. */
function addPodWarnings(found: string[], { metadata, spec }: PodLike, head: string): void {
  if (!spec) return;
  const annotations = legacyAnnotations(metadata?.annotations);
  if (spec.nodeSelector) addNodeSelector(found, spec.nodeSelector, head);
  if (spec.affinity?.nodeAffinity) addNodeAffinity(found, spec.affinity.nodeAffinity, head);
  if (spec.topologySpreadConstraints) addSpread(found, spec.topologySpreadConstraints, head);
  if (annotations) addAnnotations(found, annotations, head);
  if (spec.volumes) addVolumes(found, spec.volumes, head);
  if (spec.hostAliases) addDuplicates(found, spec.hostAliases, { path: `${head}spec.hostAliases`, field: 'ip' });
  if (spec.imagePullSecrets) addPullSecrets(found, spec.imagePullSecrets, head);
  if (spec.overhead) {
    warnOfFraction(found, `${head}spec.overhead`, spec.overhead, 'memory');
    warnOfFraction(found, `${head}spec.overhead`, spec.overhead, 'ephemeral-storage');
  }
  if (annotations) addSeccomp(found, annotations, spec, head);
  containerWarnings(found, spec, { annotations, head });
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    const words = 'must be >= 0; negative values are invalid and will be treated as 1';
    found.push(`${head}spec.terminationGracePeriodSeconds: ${words}`);
  }
  if (spec.affinity) addPodAffinity(found, spec.affinity, head);
  spec.dnsConfig?.nameservers?.forEach((server, index) => {
    addAll(found, ipWarnings(`${head}spec.dnsConfig.nameservers[${index}]`, server));
  });
  spec.hostAliases?.forEach(({ ip }, index) => {
    addAll(found, ipWarnings(`${head}spec.hostAliases[${index}].ip`, ip));
  });
}

/** The annotations if one of them may be an older form of a field; undefined otherwise. */
function legacyAnnotations(annotations: Annotations): Annotations {
  for (const key in annotations) {
    if (key.includes('.alpha.kubernetes.io/') || key.includes('.beta.kubernetes.io/')) return annotations;
  }
  return undefined;
}

function addNodeSelector(found: string[], selector: Readonly<Record<string, string>>, head: string): void {
  for (const label in selector) {
    const words = nodeLabelWarning(label);
    if (words) found.push(`${head}spec.nodeSelector[${label}]: ${words}`);
  }
}

type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;

function addNodeAffinity(found: string[], affinity: NodeAffinity, head: string): void {
  const path = `${head}spec.affinity.nodeAffinity`;
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  affinity[required]?.nodeSelectorTerms?.forEach((term, index) => {
    addAll(found, termWarnings(`${path}.${required}.nodeSelectorTerms[${index}]`, term));
  });
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
  affinity[preferred]?.forEach(({ preference }, index) => {
    addAll(found, termWarnings(`${path}.${preferred}[${index}].preference`, preference, true));
  });
}

const NO_POD = 'a null labelSelector results in matching no pod';

function addSpread(found: string[], spread: NonNullable<PodSpec['topologySpreadConstraints']>, head: string): void {
  spread.forEach(({ topologyKey, labelSelector }, index) => {
    const path = `${head}spec.topologySpreadConstraints[${index}]`;
    const words = nodeLabelWarning(topologyKey);
    if (words) found.push(`${path}.topologyKey: ${topologyKey} is ${words}`);
    if (!labelSelector) found.push(`${path}.labelSelector: ${NO_POD}`);
  });
}

function addPodAffinity(found: string[], affinity: NonNullable<PodSpec['affinity']>, head: string): void {
  const check = (path: string, term: PodAffinityTerm) => {
    if (!term.labelSelector) found.push(`${path}.labelSelector: ${NO_POD}`);
  };
  for (const side of ['podAffinity', 'podAntiAffinity'] as const) {
    const path = `${head}spec.affinity.${side}`;
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    affinity[side]?.[required]?.forEach((term, index) => {
      check(`${path}.${required}[${index}]`, term);
    });
    const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
    affinity[side]?.[preferred]?.forEach(({ podAffinityTerm }, index) => {
      check(`${path}.${preferred}[${index}].podAffinityTerm`, podAffinityTerm);
    });
  }
}

function addAnnotations(found: string[], annotations: NonNullable<Annotations>, head: string): void {
  for (const key in ANNOTATIONS) {
    if (annotations[key] !== undefined) found.push(`${head}metadata.annotations[${key}]: ${ANNOTATIONS[key]}`);
  }
}

function addSeccomp(found: string[], annotations: NonNullable<Annotations>, spec: PodSpec, head: string): void {
  if (annotations[SECCOMP] === undefined || spec.securityContext?.seccompProfile) return;
  const words = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  found.push(`${head}metadata.annotations[${SECCOMP}]: ${words}`);
}

function addVolumes(found: string[], volumes: readonly Volume[], head: string): void {
  let placed = false;
  for (let index = 0; index < volumes.length; index++) {
    const volume = volumes[index]!;
    for (const field in volume) {
      const words = SOURCES.get(field);
      if (words) found.push(`${head}spec.volumes[${index}].${field}: ${words}`);
    }
    const claim = volume.ephemeral?.volumeClaimTemplate;
    if (claim) {
      addAll(found, claimSpecWarnings(`${head}spec.volumes[${index}].ephemeral.volumeClaimTemplate.spec`, claim.spec));
    }
    const { configMap, secret, downwardAPI, projected } = volume;
    placed ||= Boolean(projected || configMap?.items || secret?.items || downwardAPI?.items);
  }
  if (placed) addAll(found, overlapWarnings(volumes));
}

function addPullSecrets(found: string[], secrets: NonNullable<PodSpec['imagePullSecrets']>, head: string): void {
  const path = `${head}spec.imagePullSecrets`;
  addDuplicates(found, secrets, { path, field: 'name' });
  secrets.forEach(({ name }, index) => {
    if (!name) found.push(`${path}[${index}].name: invalid empty name ""`);
  });
}

function addDuplicates<K extends string>(
  found: string[],
  list: readonly { readonly [field in K]?: string }[],
  { path, field }: { path: string; field: K },
): void {
  const seen = new Set<string>();
  list.forEach((item, index) => {
    const value = item[field] ?? '';
    if (seen.has(value)) found.push(`${path}[${index}].${field}: duplicate ${field} ${JSON.stringify(value)}`);
    seen.add(value);
  });
}
