/** Why the process runtime cannot run a pod on this machine, and what it does not honour of one that it runs: nothing is ignored silently. */

import { isIPv4 } from 'node:net';
import { isHostImage } from '../../kinds/shapes/container/host-image.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { wrongHostAddress } from '../pod/host-addresses.ts';
import { HOST_IMAGE_REFUSED } from './host-image.ts';
import { unknownCapability } from './oci/capabilities.ts';
import { containersOf, each, IGNORED, type PodRule, REJECTED, security, unlimited } from './plain-rules.ts';
import { whyHostUsers } from './user-namespace-of.ts';
import type { KeeperFacts } from './wire/calls.ts';

/** A sentence for an event; undefined if it can. */
export function rejection(pod: SeenPod, facts: KeeperFacts, allowsHostImage: boolean): string | undefined {
  const rules = [
    ...(allowsHostImage ? [] : WITHOUT_HOST_IMAGE),
    ...ALWAYS,
    ...(facts.hasNetwork ? WITH_NETWORK : WITHOUT_NETWORK),
    ...(facts.executor === 'oci' ? CONTAINERS : REJECTED),
  ];
  for (const rule of rules) {
    const message = rule(pod, facts);
    if (message !== undefined) return `The process runtime cannot run this pod: ${message}`;
  }
  return undefined;
}

/** Lists requests of a pod that are ignored although it runs, each as part of a sentence. */
export function ignoredRequests(pod: SeenPod, facts: KeeperFacts): readonly string[] {
  return facts.executor === 'oci' ? [] : IGNORED.flatMap((rule) => rule(pod, facts) ?? []);
}

const ALWAYS: readonly PodRule[] = [
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
];

const WITHOUT_HOST_IMAGE: readonly PodRule[] = [
  each(({ name, image }) => (isHostImage(image ?? '') ? `container ${name}: ${HOST_IMAGE_REFUSED}.` : undefined)),
];

const WITH_NETWORK: readonly PodRule[] = [
  (pod, { hasHostPorts }) =>
    pod.spec.hostNetwork || hostPorts(pod).length === 0 || hasHostPorts
      ? undefined
      : 'host ports need nft, which is not installed.',
];

const WITHOUT_NETWORK: readonly PodRule[] = [
  (pod, { whyNoNetwork }) =>
    hostPorts(pod).some(({ hostPort, containerPort }) => hostPort !== containerPort)
      ? `pods share the network of the node, so a hostPort must equal its containerPort (${whyNoNetwork}).`
      : undefined,
  (pod, { whyNoNetwork }) =>
    pod.spec.securityContext?.sysctls?.some(({ name }) => name.startsWith('net.'))
      ? `pods share the network of the node, so it cannot set sysctls of it (${whyNoNetwork}).`
      : undefined,
];

const CONTAINERS: readonly PodRule[] = [
  (pod, { hasUserNamespaces, whyNotIsolated }) =>
    pod.spec.hostUsers === false && !hasUserNamespaces
      ? `pods cannot have user namespaces of their own (hostUsers: false): ${whyNotIsolated}.`
      : undefined,
  (pod) => {
    const why = pod.spec.hostUsers === false ? whyHostUsers(pod) : undefined;
    return why && `it cannot have a user namespace of its own (hostUsers: false): ${why}.`;
  },
  (pod, facts) => {
    const [first] = unlimited(pod, facts);
    return first && `the limits of ${first} cannot be enforced: cgroups cannot be written.`;
  },
];

function hostPorts(pod: SeenPod): { readonly hostPort: number; readonly containerPort: number }[] {
  return containersOf(pod)
    .flatMap((container) => ('ports' in container ? (container.ports ?? []) : []))
    .flatMap(({ hostPort, containerPort }) => (hostPort ? [{ hostPort, containerPort }] : []));
}
