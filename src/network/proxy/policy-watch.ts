/** Keeps the policies of a node up to date with the API. */
import { inTurns } from '../../base/event-loop/in-turns.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { Informer } from '../../client/informer/informer.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { NetworkPolicy } from '../../kinds/groups/networking/network-policy.ts';
import type { PolicyApplier } from '../policy/policy-applier.ts';
import { addressesOf, policySetOf } from '../policy/policy-set-of.ts';
import { StartingPods } from '../policy/starting-pods.ts';
import { ApiFollower, type ApiFollowerOptions } from './api-follower.ts';

export interface PolicyWatchOptions extends ApiFollowerOptions {
  /** The name of the node. */
  readonly node: string;
  readonly applier: PolicyApplier;
}

export class PolicyWatch {
  readonly #options: PolicyWatchOptions;
  readonly #follower: ApiFollower;
  readonly #policies: Informer<NetworkPolicy>;
  readonly #pods: Informer<Pod>;
  readonly #namespaces: Informer<Namespace>;
  readonly #starting = new StartingPods();
  readonly #turns: TurnBudget;

  /** Resolves when the policies that existed at the start are known. Stays pending when it is stopped before. */
  readonly ready: Promise<void>;

  constructor(options: PolicyWatchOptions) {
    this.#options = options;
    this.#turns = new TurnBudget(options.clock);
    this.#follower = new ApiFollower(options, { subject: 'network policies', apply: () => this.#apply() });
    const { informers } = this.#follower;
    this.#policies = informers.of(NetworkPolicy);
    this.#pods = informers.of(Pod);
    this.#namespaces = informers.of(Namespace);
    this.#policies.onChange(() => this.#follower.changed());
    this.#namespaces.onChange((change) => {
      if (change.type !== 'update' || !isSame(change.object.metadata.labels, change.old.metadata.labels))
        this.#changed();
    });
    this.#pods.onChange((change) => {
      if (change.type === 'delete') this.#starting.removed(change.object);
      else this.#starting.shown(change.object);
      if (change.type !== 'update' || !isSame(factsOf(change.object), factsOf(change.old))) this.#changed();
    });
    this.ready = this.#follower.open([this.#policies, this.#pods, this.#namespaces]);
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
    if (known?.metadata.uid !== uid || !isSame(known && addressesOf(known), addresses)) {
      this.#starting.add(pod, addresses);
      this.#changed();
    }
    if (this.#hasPolicies) await this.#follower.applied();
  }

  stop(): Promise<void> {
    return this.#follower.stop();
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
    const pods = this.#starting.among(this.#pods.lister.list());
    const namespaces = this.#namespaces.lister.list();
    const { node, applier } = this.#options;
    const turns = this.#turns;
    await applier.isolate(await inTurns(turns, policySetOf({ policies, pods, namespaces, node }, turns)));
  }
}

/** What policies look at. */
function factsOf({ metadata, spec, status }: DeepReadonly<Pod>): unknown {
  return [metadata.labels, spec.nodeName, status.phase, status.podIP, status.podIPs];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
