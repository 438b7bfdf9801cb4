/** Why the process runtime cannot run a pod on this machine: everything that it cannot do is refused, nothing is ignored. */
import { isHostImage } from '../../kinds/shapes/container/host-image.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import { HOST_IMAGE_REFUSED } from './host-image.ts';
import { unknownCapability } from './plans/capabilities.ts';
import type { KeeperFacts } from './wire/calls.ts';

type Rule = (pod: SeenPod, facts: KeeperFacts) => string | undefined;
type SecurityContext = NonNullable<SeenContainer['securityContext']> & NonNullable<SeenPod['spec']['securityContext']>;

/** A sentence for an event; undefined if it can. */
export function refusal(pod: SeenPod, facts: KeeperFacts, allowsHostImage: boolean): string | undefined {
  const rules = [...ALWAYS, ...(facts.isolation === 'root' ? AS_ROOT : WITHOUT_ROOT)];
  const limits = facts.hasCgroups ? [] : WITHOUT_CGROUPS;
  const bare = facts.isolation === 'none' ? WITHOUT_NAMESPACES : [];
  const host = allowsHostImage ? [] : WITHOUT_HOST_IMAGE;
  for (const rule of [...host, ...rules, ...limits, ...bare]) {
    const message = rule(pod, facts);
    if (message !== undefined) return `The process runtime cannot run this pod: ${message}`;
  }
  return undefined;
}

const ALWAYS: readonly Rule[] = [
  (pod) => (pod.spec.hostUsers === false ? 'it has no user namespaces for pods (hostUsers: false).' : undefined),
  security(({ seccompProfile }) =>
    seccompProfile?.type === 'Localhost' ? 'it cannot load seccomp profiles of the node.' : undefined,
  ),
  security(({ appArmorProfile }) =>
    appArmorProfile?.type === 'Localhost' ? 'it cannot apply AppArmor profiles.' : undefined,
  ),
  security(({ seLinuxOptions }) => (seLinuxOptions ? 'it cannot set SELinux labels.' : undefined)),
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

const AS_ROOT: readonly Rule[] = [
  (pod, { hasHostPorts, hasNetwork }) =>
    pod.spec.hostNetwork || hostPorts(pod).length === 0 || (hasHostPorts && hasNetwork)
      ? undefined
      : 'host ports need nft, which is not installed.',
];

const WITHOUT_ROOT: readonly Rule[] = [
  (pod, facts) =>
    hostPorts(pod).some(({ hostPort, containerPort }) => hostPort !== containerPort)
      ? `pods share the network of the node, so a hostPort must equal its containerPort (${facts.whyNotIsolated}).`
      : undefined,
  (pod, facts) =>
    pod.spec.securityContext?.sysctls?.length ? `it cannot set sysctls: ${facts.whyNotIsolated}.` : undefined,
  (pod, facts) =>
    pod.spec.securityContext?.fsGroup !== undefined || pod.spec.securityContext?.supplementalGroups?.length
      ? `it cannot set groups (fsGroup, supplementalGroups): ${facts.whyNotIsolated}.`
      : undefined,
  (pod, facts) =>
    pod.spec.hostPID || pod.spec.hostIPC
      ? `it cannot share processes or IPC with the node (hostPID, hostIPC): ${facts.whyNotIsolated}.`
      : undefined,
  security(({ privileged }, facts) =>
    privileged ? `containers cannot be privileged: ${facts.whyNotIsolated}.` : undefined,
  ),
  security(({ capabilities }, facts) =>
    capabilities?.add?.length ? `capabilities cannot be added: ${facts.whyNotIsolated}.` : undefined,
  ),
];

const WITHOUT_CGROUPS: readonly Rule[] = [
  each(({ name, resources }, facts) => {
    const limited = ['cpu', 'memory'].filter((resource) => resources?.limits?.[resource] !== undefined);
    return limited.length > 0
      ? `the ${limited.join(' and ')} limits of container ${name} cannot be enforced: ${facts.whyNotIsolated ?? 'cgroups cannot be written'}.`
      : undefined;
  }),
];

const WITHOUT_NAMESPACES: readonly Rule[] = [
  each(({ name, image }, facts) =>
    isHostImage(image ?? '')
      ? undefined
      : `container ${name} can only run programs of the node (image "host"): ${facts.whyNotIsolated}.`,
  ),
  each(({ name, volumeMounts }, facts) => {
    // The token of the service account is mounted into every pod, and is left out here (docs/runtimes.md).
    const volume = volumeMounts?.find(({ mountPath }) => mountPath !== TOKEN_DIRECTORY);
    return volume ? `container ${name} cannot mount ${volume.mountPath}: ${facts.whyNotIsolated}.` : undefined;
  }),
  (pod, facts) =>
    pod.spec.shareProcessNamespace ? `it has no process namespaces: ${facts.whyNotIsolated}.` : undefined,
  each(({ name, tty }, { hasTerminals }) =>
    tty && !hasTerminals ? `container ${name} cannot have a terminal: perl is not installed.` : undefined,
  ),
  security(({ allowPrivilegeEscalation }, facts) =>
    allowPrivilegeEscalation === false ? `it cannot prevent privilege escalation: ${facts.whyNotIsolated}.` : undefined,
  ),
  security((context, facts) => {
    const field = UNENFORCED.find((name) => context[name] !== undefined && context[name] !== false);
    return field === undefined ? undefined : `it cannot apply ${field}: ${facts.whyNotIsolated}.`;
  }),
];

const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const UNENFORCED = ['runAsUser', 'runAsGroup', 'capabilities', 'readOnlyRootFilesystem', 'seccompProfile'] as const;

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
