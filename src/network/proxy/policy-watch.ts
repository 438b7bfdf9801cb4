/** Keeps the policies of a node up to date with the API. */

import type { DeepReadonly } from '../../api/object-types.ts';
import { inTurns } from '../../base/event-loop/in-turns.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { createEventRecorder, type EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { NetworkPolicy } from '../../kinds/groups/networking/network-policy.ts';
import { LocalPods } from '../policy/local-pods.ts';
import { addressesOf, wrongAddressOf } from '../policy/pod-addresses.ts';
import type { PolicyApplier } from '../policy/policy-set.ts';
import { policySetOf } from '../policy/policy-set-of.ts';
import { ApiFollower, type ApiFollowerOptions } from './api-follower.ts';

export interface PolicyWatchOptions extends ApiFollowerOptions {
  /** The name of the node. */
  readonly node: string;
  readonly applier: PolicyApplier;
  /** The pods that run already, by UID, with the addresses that their runtime gave them. Asked once, at the start. */
  readonly running?: () => Promise<ReadonlyMap<string, readonly string[]>>;
}

export class PolicyWatch {
  readonly #follower: ApiFollower;
  readonly #policies: Informer<NetworkPolicy>;
  readonly #pods: Informer<Pod>;
  readonly #namespaces: Informer<Namespace>;
  readonly #local = new LocalPods();
  readonly #events: EventRecorder;
  readonly #turns: TurnBudget;

  /** Resolves when the policies that existed at the start are known. Stays pending when it is stopped before. */
  readonly ready: Promise<void>;

  constructor(private readonly options: PolicyWatchOptions) {
    this.#turns = new TurnBudget(options.clock);
    this.#follower = new ApiFollower(options, { subject: 'network policies', apply: () => this.#apply() });
    const { informers, signal } = this.#follower;
    this.#events = createEventRecorder({ ...options, signal, component: 'network-policies', host: options.node });
    this.#policies = informers.of(NetworkPolicy);
    this.#pods = informers.of(Pod);
    this.#namespaces = informers.of(Namespace);
    this.#policies.onChange(() => this.#follower.changed());
    this.#namespaces.onChange((change) => {
      if (change.type !== 'update' || !isSame(change.object.metadata.labels, change.old.metadata.labels))
        this.#changed();
    });
    this.#pods.onChange((change) => {
      if (change.type === 'delete') this.#local.removed(change.object);
      else this.#checkAddresses(change.object);
      if (change.type !== 'update' || !isSame(factsOf(change.object), factsOf(change.old))) this.#changed();
    });
    const synced = this.#addRunning();
    this.ready = this.#follower.open([this.#policies, this.#pods, this.#namespaces, { synced }]);
  }

  /**
   * Resolves when the policies hold for a pod with these addresses, so that its containers can start. The API shows the addresses
   * only later.
   */
  async admit(pod: DeepReadonly<Pod>, addresses: readonly string[]): Promise<void> {
    if (pod.spec.hostNetwork || addresses.length === 0) return;
    await this.ready;
    const { name = '', namespace, uid } = pod.metadata;
    const known = this.#pods.lister.get(name, namespace);
    const isShown = known !== undefined && known.metadata.uid === uid && isSame(addressesOf(known), addresses);
    const isNew = !isSame(this.#local.addressesOf(uid ?? ''), addresses);
    if (isNew) this.#local.add(uid ?? '', addresses, pod);
    if (isNew && !isShown) this.#changed();
    if (this.#hasPolicies) await this.#follower.applied();
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  /** Adds running pods. Without an answer, the addresses are those that the API shows. */
  async #addRunning(): Promise<void> {
    const { running, log } = this.options;
    try {
      for (const [uid, addresses] of (await running?.()) ?? []) this.#local.add(uid, addresses);
    } catch (error) {
      log.warn('the addresses of running pods could not be read', { error: String(error) });
    }
  }

  /** Reports an invalid address of one pod, which must not keep policies from the others. */
  #checkAddresses(pod: DeepReadonly<Pod>): void {
    const wrong = pod.spec.nodeName === this.options.node ? wrongAddressOf(pod) : undefined;
    if (wrong === undefined) return;
    const message = `${JSON.stringify(wrong)} in the status is not an IP address: network policies ignore it`;
    this.#events.event(pod, 'Warning', 'InvalidPodIP', message);
  }

  get #hasPolicies(): boolean {
    return this.#policies.lister.list().length > 0;
  }

  /** Pods come and go all the time; without policies nothing follows from that. */
  #changed(): void {
    if (this.#hasPolicies) this.#follower.changed();
  }

  async #apply(): Promise<void> {
    const policies = this.#policies.lister.list();
    const pods = this.#local.among(this.#pods.lister.list());
    const namespaces = this.#namespaces.lister.list();
    const { node, applier } = this.options;
    const turns = this.#turns;
    await applier.isolate(await inTurns(turns, policySetOf({ policies, pods, namespaces, node }, turns)));
  }
}

/** Returns the fields of a pod that policies depend on. */
function factsOf({ metadata, spec, status }: DeepReadonly<Pod>): unknown {
  return [metadata.labels, spec.nodeName, status.phase, status.podIP, status.podIPs, status.hostIP, status.hostIPs];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
