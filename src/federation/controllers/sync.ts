/** Brings the federated objects of one kind to the members: asks for a plan for each, and performs it. */

import { isLostRace } from '../../api/errors.ts';
import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { keyOf } from '../../client/informer/object-cache.ts';
import { HorizontalPodAutoscaler } from '../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import type { FederatedKind } from '../plan/kinds/federated-kind.ts';
import { type MemberAction, type MemberState, type ObjectPlan, planObject } from '../plan/plan-object.ts';
import { capacityOf } from './capacity.ts';
import type { Member, Members } from './members.ts';
import { Settled } from './settled.ts';
import { type FederationTools, inTime } from './tools.ts';

export interface SyncOptions extends FederationTools {
  readonly kind: FederatedKind;
  readonly members: Members;
  readonly recorder: EventRecorder;
  /** A cluster whose objects cannot be read for this long is down, for this kind. */
  readonly downAfterMs: number;
  /** Time that pods wait for a node before their replicas go elsewhere. */
  readonly unschedulableAfterMs: number;
}

type FederatedObject = DeepReadonly<AnyObject>;

/** Number of workers: most of the time, they wait for members and for caches. */
const WORKERS = 100;
/** Timeout for caches to show own writes: that of a member that is away does not. */
const VISIBILITY_TIMEOUT_MS = 5_000;
/** A request to a member that takes longer has failed: the other members do not wait for it. */
const SOON = { ms: 10_000, late: new Error('no answer within 10 s') };
/** Interval for checking members whose objects are unknown: they count as down after some time, without an event. */
const UNKNOWN_LOOK_MS = 1_000;

export class Sync {
  readonly #loop: ReconcileLoop;
  readonly #federated: Informer<AnyObject>;
  readonly #autoscalers: Informer<HorizontalPodAutoscaler> | undefined;
  readonly #settled = new Settled();
  /** Members whose objects are followed, and since when. */
  readonly #followed = new Map<Member, number>();
  readonly #synced = new Set<Member>();

  constructor(private readonly options: SyncOptions) {
    const { clock, random, kind, informers, recorder } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log: options.log.with({ kind: kind.kind.kind }),
      backoff: { base: 50, max: 30_000 },
      workers: WORKERS,
      visibilityMs: VISIBILITY_TIMEOUT_MS,
      failure: 'an object could not be propagated',
      isExpected: isLostRaceOfMember,
      failed: (key, errors) => {
        const object = this.#objectOf(key);
        if (!object || errors.every(isLostRaceOfMember)) return;
        recorder.event(object, 'Warning', 'PropagationFailed', errors.map(({ message }) => message).join('; '));
      },
      reconcile: (key) => this.#reconcile(key),
    });
    this.#federated = informers.of<AnyObject>(kind.kind);
    this.#autoscalers = kind.replicas && informers.of<HorizontalPodAutoscaler>(HorizontalPodAutoscaler);
  }

  /** Runs until the signal is aborted. */
  async run(): Promise<void> {
    const { members, signal } = this.options;
    this.#federated.onChange(({ object }) => this.#loop.add(keyOf(object)));
    this.#autoscalers?.onChange(({ object: { metadata, spec } }) => {
      if (spec.scaleTargetRef.kind === this.options.kind.kind.kind) {
        this.#loop.add(`${metadata.namespace}/${spec.scaleTargetRef.name}`);
      }
    });
    const unfollow = members.onChange((member) => this.#memberChanged(member));
    try {
      await this.#loop.run(signal);
    } finally {
      unfollow();
    }
  }

  #memberChanged(member: Member): void {
    this.#follow(member);
    // Changes that no plan depends on need no new plans.
    const { replicas, gather } = this.options.kind;
    if (replicas || gather || member.isStopped || member.health === 'ready') this.#everything();
  }

  #everything(): void {
    for (const object of this.#federated.lister.list()) this.#loop.add(keyOf(object));
  }

  /** Follows the objects in a member, once it has been reached. */
  #follow(member: Member): void {
    if (member.isStopped) {
      this.#followed.delete(member);
      this.#synced.delete(member);
      return;
    }
    const informer = member.informer(this.options.kind.kind);
    if (!informer || this.#followed.has(member)) return;
    this.#followed.set(member, this.options.clock.now());
    informer.onChange(({ object }) => {
      const key = keyOf(object);
      const { name = '', namespace } = object.metadata;
      if (this.#federated.lister.get(name, namespace)) this.#loop.add(key);
    });
    void informer.synced.then(() => {
      this.#synced.add(member);
      this.#everything();
    });
  }

  async #reconcile(key: string): Promise<void> {
    const object = this.#objectOf(key);
    if (!object) {
      for (const { name } of this.options.members.all) this.#settled.forget(`${name} ${key}`);
      return;
    }
    const plan = planObject(object, {
      kind: this.options.kind,
      members: await this.#states(key, object),
      isAutoscaled: this.#isAutoscaled(object),
    });
    await this.#perform(key, object, plan);
  }

  #objectOf(key: string): FederatedObject | undefined {
    const [name = '', namespace] = key.split('/').reverse();
    return this.#federated.lister.get(name, namespace);
  }

  async #states(key: string, federated: FederatedObject): Promise<readonly MemberState[]> {
    const { members, kind } = this.options;
    return Promise.all(
      members.all.map(async (member): Promise<MemberState> => {
        const { name = '', namespace } = federated.metadata;
        const actual = member.informer(kind.kind)?.lister.get(name, namespace);
        const health = this.#healthOf(member);
        if (health === 'unknown') this.#loop.addAfter(key, UNKNOWN_LOOK_MS);
        if (health === 'away') this.#loop.addAfter(key, member.downAfterMs);
        return {
          name: member.name,
          labels: member.cluster.metadata.labels ?? {},
          health,
          object: actual,
          capacity: health === 'ready' && actual ? await this.#capacityOf(key, member, actual) : undefined,
          isSettled: (desired) => actual !== undefined && this.#settled.has(`${member.name} ${key}`, desired, actual),
        };
      }),
    );
  }

  /** A member that answers and whose objects are not known yet is not ready; one that does not let them be read is down. */
  #healthOf(member: Member): MemberState['health'] {
    const { health } = member;
    if (health !== 'ready' || this.#synced.has(member)) return health;
    const { clock, downAfterMs } = this.options;
    const since = this.#followed.get(member) ?? clock.now();
    return clock.now() - since >= downAfterMs ? 'down' : 'unknown';
  }

  async #capacityOf(key: string, member: Member, actual: FederatedObject): Promise<number | undefined> {
    const { kind, clock, log, unschedulableAfterMs: patienceMs } = this.options;
    const { replicas } = kind;
    if (!replicas || !member.client || kind.kind.plural === 'jobs') return undefined;
    const options = { client: member.client, now: clock.now(), patienceMs };
    try {
      const capacity = await inTime(this.options, SOON, (signal) =>
        capacityOf(actual, replicas.of(actual), { ...options, signal }),
      );
      if (capacity.lookAgainAfterMs !== undefined) this.#loop.addAfter(key, capacity.lookAgainAfterMs);
      return capacity.replicas;
    } catch (error) {
      // Its pods are then unknown. The other members do not wait for them.
      const { message: reason } = error as Error;
      log.info('the pods of an object could not be read', { cluster: member.name, key, reason });
      this.#loop.addAfter(key, patienceMs);
      return undefined;
    }
  }

  #isAutoscaled({ metadata: { name, namespace } }: FederatedObject): boolean {
    const { kind } = this.options.kind.kind;
    const targets = this.#autoscalers?.lister.list(namespace).map(({ spec }) => spec.scaleTargetRef) ?? [];
    return targets.some((target) => target.kind === kind && target.name === name);
  }

  /** Members do not wait for each other; the failures of all are reported together. */
  async #perform(key: string, object: FederatedObject, plan: ObjectPlan): Promise<void> {
    const { actions, errors = [], finalizers, status } = plan;
    const results = await Promise.allSettled([
      ...actions.map((action) => this.#act(key, object, action)),
      ...(finalizers ? [this.#setFinalizers(key, object, finalizers)] : []),
      ...(status ? [this.#setStatus(key, object, status)] : []),
    ]);
    const failures = [
      ...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
      ...errors.map((message) => new Error(message)),
    ];
    if (failures.length > 0) throw new AggregateError(failures);
  }

  async #act(key: string, object: FederatedObject, action: MemberAction): Promise<void> {
    const { members, kind } = this.options;
    const member = members.all.find(({ name }) => name === action.cluster);
    const { name = '', namespace } = object.metadata;
    const resource = member?.client?.of(kind.kind).in(namespace);
    if (!member || !resource) return;
    try {
      await inTime(this.options, SOON, async (signal) => {
        if (action.type === 'delete') {
          const preconditions = action.uid === undefined ? {} : { preconditions: { uid: action.uid } };
          await resource.delete(name, { propagationPolicy: 'Background', ...preconditions, signal });
          return;
        }
        const written = (await resource[action.type](action.object, { signal })) as FederatedObject;
        this.#settled.add(`${member.name} ${key}`, action.object, written);
        this.#wrote(key, member.informer(kind.kind), written);
      });
    } catch (cause) {
      throw new Error(`cluster ${action.cluster}: ${(cause as Error).message}`, { cause });
    }
  }

  async #setFinalizers(key: string, object: FederatedObject, finalizers: readonly string[]): Promise<void> {
    const { client, kind, signal } = this.options;
    const { name = '', namespace, resourceVersion } = object.metadata;
    // Another client may have changed them meanwhile; then the next plan sees it.
    const changes = { metadata: { finalizers, resourceVersion } };
    const result = await client.of(kind.kind).in(namespace).patch(name, { type: 'merge', changes }, { signal });
    this.#wrote(key, this.#federated, result);
  }

  async #setStatus(key: string, { metadata }: FederatedObject, status: object): Promise<void> {
    const { client, kind, signal } = this.options;
    const { name = '', namespace } = metadata;
    const operations = [{ op: 'add', path: '/status', value: status } as const];
    const result = await client.of(kind.kind).in(namespace).patchStatus(name, { type: 'json', operations }, { signal });
    this.#wrote(key, this.#federated, result);
  }

  #wrote(key: string, cache: Informer<AnyObject> | undefined, { metadata }: FederatedObject): void {
    const { resourceVersion } = metadata;
    if (cache && resourceVersion !== undefined) this.#loop.wrote(key, { cache, version: Number(resourceVersion) });
  }
}

/** Failures of members name the cluster; their cause is the error. */
const isLostRaceOfMember = (error: Error) => isLostRace(error.cause ?? error);
