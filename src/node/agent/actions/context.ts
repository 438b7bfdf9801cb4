/** Dependencies of actions. */
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { ConfigMapData, Found, SecretData, ServiceAddress } from '../../container/inputs.ts';
import type { DnsOptions } from '../../container/names/dns.ts';
import type { MachineResources } from '../../container/resources.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { PlannedEvent } from '../../pod/plan/action.ts';
import type { PodState } from '../../pod/plan/state.ts';
import type { ProbedPod } from '../../probes/dialing.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Volumes } from '../../volumes/volumes.ts';
import type { PullSecret } from '../images/keyring.ts';
import type { ImagePulls } from '../images/pull.ts';

/** Facts about the node that pods see. */
export interface NodeFacts {
  readonly hostIPs: readonly string[];
  /** True when all pods have the network of the node, and so its addresses. */
  readonly sharesNetwork: boolean;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly resources: MachineResources;
  /** Maximum number of processes and threads of a pod; undefined: no limit. */
  readonly podPidsLimit: number | undefined;
  readonly dns: DnsOptions;
  /** The contents of the node's `/etc/hosts`. */
  readonly hosts: string;
}

/** Objects that pods refer to, read as the node. */
export interface ReferredObjects {
  configMap(namespace: string, name: string): Promise<Found<ConfigMapData>>;
  secret(namespace: string, name: string): Promise<Found<SecretData & PullSecret>>;
  /** `waits`: for the first answer of the server; otherwise what is known now. */
  services(waits: boolean): Promise<Iterable<ServiceAddress>>;
  /** The handler of a RuntimeClass. Rejects when there is no such class. */
  runtimeHandler(className: string): Promise<string>;
}

export interface ActionContext {
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  readonly pulls: ImagePulls;
  readonly objects: ReferredObjects;
  readonly node: () => NodeFacts;
  readonly clock: Clock;
  /** Holds the log directories of all pods. */
  readonly logRoot: string;
  readonly seccompDirectory: string;
  /** User agent of probes and hooks: `kube-probe/1.36`. */
  readonly userAgent: string;
  /** Checks what probes and hooks connect to. */
  readonly dialGuard: DialGuard;
  readonly network: PodNetwork;
}

/** Calls to the node's network around the life of a container. */
export interface PodNetwork {
  /** Resolves when network policies hold for a pod with these addresses. Containers start after that. */
  untilIsolated(pod: SeenPod, addresses: readonly string[]): Promise<void>;
  /** Resolves when Services send no new connections to a pod that ends. Containers are stopped after that, or after a while. */
  untilDrained(addresses: readonly string[], signal: AbortSignal): Promise<void>;
}

/** The pod that an action is about. */
export interface Subject {
  readonly pod: SeenPod;
  readonly state: PodState;
  readonly emit: (event: PlannedEvent) => void;
}

/** Reports whether a pod has the network of the node, because it asks for it or because there is no other. */
export function isOnNodeNetwork({ spec }: SeenPod, { sharesNetwork }: Pick<NodeFacts, 'sharesNetwork'>): boolean {
  return sharesNetwork || spec.hostNetwork === true;
}

/** The addresses of a pod; on the network of the node, those of the node. */
export function addressesOf({ pod, state }: Pick<Subject, 'pod' | 'state'>, node: NodeFacts): readonly string[] {
  if (isOnNodeNetwork(pod, node)) return node.hostIPs;
  return state.sandboxes[0]?.addresses ?? state.addresses;
}

/** The pod as its probes and hooks see it. */
export function probedPod(context: ActionContext, subject: Pick<Subject, 'pod' | 'state'>): ProbedPod {
  const node = context.node();
  const [address = ''] = addressesOf(subject, node);
  return { address, isOnNodeNetwork: isOnNodeNetwork(subject.pod, node), guard: context.dialGuard };
}
