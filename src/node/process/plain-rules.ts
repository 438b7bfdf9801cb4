/**
 * Rules for pods that run as plain processes. What the pod, or somebody else, relies on to be safe or to find its data is
 * rejected unless it can be honoured. What only makes the pod a better neighbour, or a name more convenient, is ignored with a warning.
 */
import { isHostImage } from '../../kinds/shapes/container/host-image.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { KeeperFacts, PlainUser } from './wire/calls.ts';

/** Parts of sentences. */
export const IGNORED: readonly PodRule[] = [
  // A limit protects others, and the node has no limits for anything else of this user either.
  (pod, facts) => {
    const found = unlimited(pod, facts);
    return found.length === 0 ? undefined : `limits are not enforced: ${found.join(', ')} (${facts.whyUnlimited})`;
  },
  ({ spec }) =>
    spec.hostAliases?.length ? 'hostAliases have no effect: programs read /etc/hosts of the node' : undefined,
  ({ spec }) =>
    spec.dnsConfig || spec.dnsPolicy === 'None'
      ? 'dnsConfig has no effect: programs read /etc/resolv.conf of the node'
      : undefined,
];

/** Sentences. */
export const REJECTED: readonly PodRule[] = [
  needsContainer('it has no user namespaces (hostUsers: false)', ({ spec }) => spec.hostUsers === false),
  needsContainer('it cannot set sysctls', ({ spec }) => (spec.securityContext?.sysctls?.length ?? 0) > 0),
  needsContainer(
    'it cannot set groups (fsGroup, supplementalGroups)',
    ({ spec: { securityContext: { fsGroup, supplementalGroups = [] } = {} } }, { gid }) =>
      [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups].some((group) => group !== gid),
  ),
  security(({ privileged }, facts) => (privileged ? `containers cannot be privileged: ${missing(facts)}.` : undefined)),
  each(({ name, image }, facts) =>
    isHostImage(image ?? '')
      ? undefined
      : `container ${name} can only run programs of the node (image "host"): ${missing(facts)}.`,
  ),
  each(({ name, volumeMounts }, facts) => {
    // The token of the service account is mounted into every pod, and is left out here (docs/runtimes.md).
    const volume = volumeMounts?.find(({ mountPath }) => mountPath !== TOKEN_DIRECTORY);
    return volume ? `container ${name} cannot mount ${volume.mountPath}: ${missing(facts)}.` : undefined;
  }),
  each(({ name, tty }, { hasTerminals }) =>
    tty && !hasTerminals
      ? `container ${name} cannot have a terminal: the program "script" is not installed.`
      : undefined,
  ),
  security(({ allowPrivilegeEscalation }, facts) =>
    allowPrivilegeEscalation === false && !userOf(facts).hasNoNewPrivileges
      ? `it cannot prevent privilege escalation: the program "setpriv" of util-linux is not installed.`
      : undefined,
  ),
  security(({ runAsUser, runAsGroup }, facts) => {
    const { uid, gid } = userOf(facts);
    if (runAsUser !== undefined && runAsUser !== uid)
      return `it cannot apply runAsUser: ${runAsUser}, only ${uid}: ${missing(facts)}.`;
    return runAsGroup !== undefined && runAsGroup !== gid
      ? `it cannot apply runAsGroup: ${runAsGroup}, only ${gid}: ${missing(facts)}.`
      : undefined;
  }),
  security(({ capabilities: { add = [], drop = [] } = {} }, facts) => {
    const { hasNoCapabilities, hasNoNewPrivileges } = userOf(facts);
    // A process that has none and can get none has dropped them all.
    const areDropped = hasNoCapabilities && hasNoNewPrivileges;
    return add.length > 0 || (drop.length > 0 && !areDropped)
      ? `it cannot apply capabilities: ${missing(facts)}.`
      : undefined;
  }),
  security(({ readOnlyRootFilesystem }, facts) =>
    readOnlyRootFilesystem ? `it cannot apply readOnlyRootFilesystem: ${missing(facts)}.` : undefined,
  ),
  security(({ seccompProfile }, facts) =>
    seccompProfile && seccompProfile.type !== 'Unconfined'
      ? `it cannot apply seccompProfile: ${missing(facts)}.`
      : undefined,
  ),
];

const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const NOBODY: PlainUser = { uid: 65_534, gid: 65_534, hasNoNewPrivileges: false, hasNoCapabilities: false };

const userOf = ({ plain }: KeeperFacts): PlainUser => plain ?? NOBODY;

function needsContainer(what: string, isAsked: (pod: SeenPod, user: PlainUser) => boolean | undefined): PodRule {
  return (pod, facts) => (isAsked(pod, userOf(facts)) ? `${what}: ${missing(facts)}.` : undefined);
}

/** Limits that no cgroup enforces: `cpu and memory of container web`. */
export function unlimited(pod: SeenPod, { limits }: Pick<KeeperFacts, 'limits'>): readonly string[] {
  const subjects: readonly (readonly [string, NonNullable<SeenContainer['resources']>])[] = [
    ['the pod', pod.spec.resources ?? {}],
    ...containersOf(pod).map(({ name, resources }) => [`container ${name}`, resources ?? {}] as const),
  ];
  return subjects.flatMap(([subject, resources]) => {
    const names = (['cpu', 'memory'] as const).filter((name) => resources.limits?.[name] !== undefined);
    const left = names.filter((name) => !limits.includes(name));
    return left.length === 0 ? [] : [`${left.join(' and ')} of ${subject}`];
  });
}

/** Returns what is wrong with a pod; undefined: nothing. */
export type PodRule = (pod: SeenPod, facts: KeeperFacts) => string | undefined;

type SecurityContext = NonNullable<SeenContainer['securityContext']> & NonNullable<SeenPod['spec']['securityContext']>;

/** For every container. */
export function each(check: (container: SeenContainer, facts: KeeperFacts) => string | undefined): PodRule {
  return (pod, facts) => {
    for (const container of containersOf(pod)) {
      const message = check(container, facts);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

/** For the security context of the pod and those of its containers. */
export function security(
  check: (context: Partial<SecurityContext>, facts: KeeperFacts) => string | undefined,
): PodRule {
  return (pod, facts) => {
    const contexts = [pod.spec.securityContext, ...containersOf(pod).map(({ securityContext }) => securityContext)];
    for (const context of contexts) {
      const message = context && check(context as Partial<SecurityContext>, facts);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

export function containersOf({ spec }: SeenPod): SeenContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** Tells what to do to have containers. */
function missing({ whyNotIsolated }: KeeperFacts): string {
  return `pods are containers only where the node agent runs as root and runc or crun is installed (${whyNotIsolated})`;
}
