/** Which pods have a user namespace of their own: all that can. */
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { UserNamespaceMode } from '../runtime/runtime.ts';
import type { KeeperFacts } from './wire/calls.ts';

type Volume = NonNullable<SeenPod['spec']['volumes']>[number];

/** As many ids as the namespace of a pod has. */
const IDS_PER_POD = 65_536;
/** Volumes whose files are made for the pod: they can belong to the ids that its users have on the node. */
const OWN_VOLUMES: readonly (keyof Volume)[] = ['configMap', 'downwardAPI', 'emptyDir', 'image', 'projected', 'secret'];

/** Files belong to the node's ids on disk: the OCI runtimes of most systems cannot map the ids of mounts. */
export function userNamespaceOf(pod: SeenPod, facts: Pick<KeeperFacts, 'hasUserNamespaces'>): UserNamespaceMode {
  if (!facts.hasUserNamespaces || pod.spec.hostUsers === true) return 'none';
  return whyHostUsers(pod) === undefined ? 'mapped-owners' : 'none';
}

/** Names what in a pod needs the user ids of the node; undefined: nothing. */
export function whyHostUsers(pod: SeenPod): string | undefined {
  const { spec } = pod;
  if (spec.hostNetwork || spec.hostPID || spec.hostIPC) return 'it shares namespaces of the node';
  if (containersOf(pod).some(({ securityContext }) => securityContext?.privileged)) return 'a container is privileged';
  const id = idsOf(pod).find((each) => each >= IDS_PER_POD);
  if (id !== undefined) return `it names the id ${id}, and the namespace of a pod has ${IDS_PER_POD}`;
  const foreign = spec.volumes?.find((volume) => !OWN_VOLUMES.some((kind) => volume[kind] !== undefined));
  return foreign && `the files of volume ${foreign.name} belong to users of the node`;
}

function idsOf(pod: SeenPod): number[] {
  const { securityContext: ofPod } = pod.spec;
  const contexts = [ofPod, ...containersOf(pod).map(({ securityContext }) => securityContext)];
  const ids = contexts.flatMap((context) => [context?.runAsUser, context?.runAsGroup]);
  return [...ids, ofPod?.fsGroup, ...(ofPod?.supplementalGroups ?? [])].filter((id) => id !== undefined);
}

function containersOf({ spec }: SeenPod): SeenContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}
