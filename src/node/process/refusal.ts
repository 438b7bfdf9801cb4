/** Why the process runtime cannot run a pod on this machine: everything that it cannot do is refused, nothing is ignored. */
import { isIPv4 } from 'node:net';
import { isHostImage } from '../../kinds/shapes/container/host-image.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import { wrongHostAddress } from '../pod/host-addresses.ts';
import { HOST_IMAGE_REFUSED } from './host-image.ts';
import { unknownCapability } from './oci/capabilities.ts';
import { whyHostUsers } from './user-namespace-of.ts';
import type { KeeperFacts } from './wire/calls.ts';

type Rule = (pod: SeenPod, facts: KeeperFacts) => string | undefined;
type SecurityContext = NonNullable<SeenContainer['securityContext']> & NonNullable<SeenPod['spec']['securityContext']>;

/** A sentence for an event; undefined if it can. */
export function refusal(pod: SeenPod, facts: KeeperFacts, allowsHostImage: boolean): string | undefined {
  const rules = [
    ...(allowsHostImage ? [] : WITHOUT_HOST_IMAGE),
    ...ALWAYS,
    ...(facts.hasNetwork ? WITH_NETWORK : WITHOUT_NETWORK),
    ...(facts.executor === 'oci' ? CONTAINERS : PROCESSES),
    ...(facts.hasCgroups ? [] : WITHOUT_CGROUPS),
  ];
  for (const rule of rules) {
    const message = rule(pod, facts);
    if (message !== undefined) return `The process runtime cannot run this pod: ${message}`;
  }
  return undefined;
}

const ALWAYS: readonly Rule[] = [
  (pod) => {
    const wrong = wrongHostAddress(pod, pod.spec.hostNetwork ? undefined : isIPv4);
    return wrong && `hostIP ${JSON.stringify(wrong.hostIP)} of container ${wrong.container} is not an IPv4 address.`;
  },
  security(({ seccompProfile }) =>
    seccompProfile?.type === 'Localhost' ? 'it cannot load seccomp profiles of the node.' : undefined,
  ),
  security(({ appArmorProfile }) =>
    appArmorProfile?.type === 'Localhost' ? 'it cannot apply AppArmor profiles.' : undefined,
  ),
  // Where the kernel has no SELinux, labels mean nothing, and every runtime ignores them.
  security(({ seLinuxOptions }, { hasSelinux }) =>
    seLinuxOptions && hasSelinux ? 'it cannot set SELinux labels.' : undefined,
  ),
  security(({ capabilities }) => {
    const unknown = unknownCapability({ addCapabilities: capabilities?.add ?? [] });
    return unknown === undefined ? undefined : `unknown capability ${unknown}.`;
  }),
  each(({ volumeMounts }) =>
    volumeMounts?.some(({ mountPropagation }) => mountPropagation === 'Bidirectional')
      ? 'mounts of a container cannot reach the node (mountPropagation: Bidirectional).'
      : undefined,
  ),
];

const WITHOUT_HOST_IMAGE: readonly Rule[] = [
  each(({ name, image }) => (isHostImage(image ?? '') ? `container ${name}: ${HOST_IMAGE_REFUSED}.` : undefined)),
];

const WITH_NETWORK: readonly Rule[] = [
  (pod, { hasHostPorts }) =>
    pod.spec.hostNetwork || hostPorts(pod).length === 0 || hasHostPorts
      ? undefined
      : 'host ports need nft, which is not installed.',
];

const WITHOUT_NETWORK: readonly Rule[] = [
  (pod, { whyNoNetwork }) =>
    hostPorts(pod).some(({ hostPort, containerPort }) => hostPort !== containerPort)
      ? `pods share the network of the node, so a hostPort must equal its containerPort (${whyNoNetwork}).`
      : undefined,
  (pod, { whyNoNetwork }) =>
    pod.spec.securityContext?.sysctls?.some(({ name }) => name.startsWith('net.'))
      ? `pods share the network of the node, so it cannot set sysctls of it (${whyNoNetwork}).`
      : undefined,
];

const CONTAINERS: readonly Rule[] = [
  (pod, { hasUserNamespaces, whyNotIsolated }) =>
    pod.spec.hostUsers === false && !hasUserNamespaces
      ? `pods cannot have user namespaces of their own (hostUsers: false): ${whyNotIsolated}.`
      : undefined,
  (pod) => {
    const why = pod.spec.hostUsers === false ? whyHostUsers(pod) : undefined;
    return why && `it cannot have a user namespace of its own (hostUsers: false): ${why}.`;
  },
];

const WITHOUT_CGROUPS: readonly Rule[] = [
  each(({ name, resources }, facts) => {
    const limited = ['cpu', 'memory'].filter((resource) => resources?.limits?.[resource] !== undefined);
    return limited.length > 0
      ? `the ${limited.join(' and ')} limits of container ${name} cannot be enforced: ${facts.executor === 'oci' ? 'cgroups cannot be written' : missing(facts)}.`
      : undefined;
  }),
];

/** What a plain process cannot have. */
const PROCESSES: readonly Rule[] = [
  needsContainer('it has no user namespaces (hostUsers: false)', ({ spec }) => spec.hostUsers === false),
  needsContainer('it cannot set sysctls', ({ spec }) => (spec.securityContext?.sysctls?.length ?? 0) > 0),
  needsContainer(
    'it cannot set groups (fsGroup, supplementalGroups)',
    ({ spec: { securityContext: context } }) =>
      context?.fsGroup !== undefined || (context?.supplementalGroups?.length ?? 0) > 0,
  ),
  needsContainer('it has no processes or IPC to share (hostPID, hostIPC)', ({ spec }) => spec.hostPID || spec.hostIPC),
  needsContainer('it has no process namespaces', ({ spec }) => spec.shareProcessNamespace),
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
    allowPrivilegeEscalation === false ? `it cannot prevent privilege escalation: ${missing(facts)}.` : undefined,
  ),
  security((context, facts) => {
    const field = UNENFORCED.find((name) => context[name] !== undefined && context[name] !== false);
    return field === undefined ? undefined : `it cannot apply ${field}: ${missing(facts)}.`;
  }),
];

const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const UNENFORCED = ['runAsUser', 'runAsGroup', 'capabilities', 'readOnlyRootFilesystem', 'seccompProfile'] as const;

/** What to do to have containers. */
function missing({ whyNotIsolated }: KeeperFacts): string {
  return `pods are containers only where the node agent runs as root and runc or crun is installed (${whyNotIsolated})`;
}

function needsContainer(what: string, isAsked: (pod: SeenPod) => boolean | undefined): Rule {
  return (pod, facts) => (isAsked(pod) ? `${what}: ${missing(facts)}.` : undefined);
}

function each(check: (container: SeenContainer, facts: KeeperFacts) => string | undefined): Rule {
  return (pod, facts) => {
    for (const container of containersOf(pod)) {
      const message = check(container, facts);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

/** For the security context of the pod and those of its containers. */
function security(check: (context: Partial<SecurityContext>, facts: KeeperFacts) => string | undefined): Rule {
  return (pod, facts) => {
    const contexts = [pod.spec.securityContext, ...containersOf(pod).map(({ securityContext }) => securityContext)];
    for (const context of contexts) {
      const message = context && check(context as Partial<SecurityContext>, facts);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

function containersOf({ spec }: SeenPod): SeenContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

function hostPorts(pod: SeenPod): { readonly hostPort: number; readonly containerPort: number }[] {
  return containersOf(pod)
    .flatMap((container) => ('ports' in container ? (container.ports ?? []) : []))
    .flatMap(({ hostPort, containerPort }) => (hostPort ? [{ hostPort, containerPort }] : []));
}
