/** Runs controllers: turns changes into keys, and, for each key, asks for a plan and performs it. It knows no kind. */

import { setMaxListeners } from 'node:events';
import { isLostRace } from '../../api/errors.ts';
import type { DeepReadonly, KindRef } from '../../api/object-types.ts';
import { type DividedWork, inTurns } from '../../base/event-loop/in-turns.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { whenAborted } from '../../base/event-loop/when-aborted.ts';
import type { Logger } from '../../base/log.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { Client, ClientTools } from '../../client/client.ts';
import { CONTROLLER_MANAGER } from '../../client/component-users.ts';
import { createEventRecorder, type EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import type { InformerFactory } from '../../client/informer/informer-factory.ts';
import { type Change, controllerOf, keyOf, type Lister } from '../../client/informer/object-cache.ts';
import { type KubeObject, splitApiVersion } from '../../kinds/kind.ts';
import { ChangeWatches } from './change-watches.ts';
import type { Controller, Failure, Listers, Related, Snapshot } from './define.ts';
import { ActionFailure, isApiAction, type Performer, performAll, type Write } from './perform.ts';
import type { Named, Plan } from './plan.ts';
import type { QueueMetrics } from './queue-metrics.ts';

export interface ControllerEnvironment extends Omit<ClientTools, 'client'> {
  /**
   * Returns a client that acts as a service account: each controller has its own; shared requests use that of the
   * controller manager.
   */
  readonly clientOf: (account: string) => Client;
  /** Shared by all controllers. */
  readonly informers: InformerFactory;
  /** Monitor that is notified which controller runs. */
  readonly monitor?: WorkMonitor | undefined;
  /** Metrics; absent when nothing is measured. */
  readonly metrics?: QueueMetrics | undefined;
  readonly signal: AbortSignal;
}

const DEFAULT_WORKERS = 10;

/** Runs until the signal is aborted; resolves when the last action has ended. */
export async function runControllers(
  controllers: readonly Controller[],
  environment: ControllerEnvironment,
): Promise<void> {
  // Every request and wait listens to it; Node warns about more than ten listeners.
  setMaxListeners(0, environment.signal);
  const budget = new TurnBudget(environment.clock);
  await Promise.all(controllers.map((controller) => new ControllerRun(controller, environment, budget).run()));
}

class ControllerRun {
  readonly #env: ControllerEnvironment;
  readonly #client: Client;
  readonly #log: Logger;
  readonly #loop: ReconcileLoop;
  readonly #informers = new Map<KindRef, Informer<any>>();
  readonly #listers: Listers;
  readonly #watches: ChangeWatches;
  readonly #recorder: EventRecorder;

  /** `budget` limits the share of all controllers together in a turn of the event loop. */
  constructor(
    private readonly controller: Controller,
    environment: ControllerEnvironment,
    private readonly budget: TurnBudget,
  ) {
    const { clientOf, clock, random, log, metrics } = environment;
    this.#env = environment;
    this.#client = clientOf(controller.account);
    this.#log = log.with({ controller: controller.name });
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log: this.#log,
      turns: budget,
      observer: metrics?.observe(controller.name),
      workers: controller.workers ?? DEFAULT_WORKERS,
      failure: 'a plan failed',
      isExpected: (error) => isLostRace(failureOf(error).error),
      reconcile: (key, errors) => this.#reconcile(key, errors),
    });
    this.#listers = { of: (kind) => this.#informer(kind).lister };
    const wake = (key: string, delay: number) => this.#loop.addAfter(key, delay);
    this.#watches = new ChangeWatches({ client: clientOf(CONTROLLER_MANAGER), clock, log: this.#log, wake });
    const { component = `${controller.name}-controller` } = controller;
    this.#recorder = createEventRecorder({ ...environment, client: this.#client, log: this.#log, component });
  }

  async run(): Promise<void> {
    const { signal } = this.#env;
    const leave = this.#subscribe();
    const wake = (key: string) => this.#loop.add(key);
    const feed = this.controller.feed?.({ ...this.#env, client: this.#client, log: this.#log, wake });
    try {
      await Promise.race([Promise.all([this.#synced(), feed?.ready]), whenAborted(signal)]);
      await this.#loop.run(signal);
    } finally {
      for (const each of leave) each();
      await feed?.ended;
      await this.#watches.close();
      await this.#recorder.flushed();
    }
  }

  async #synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map(({ synced }) => synced));
  }

  #informer(kind: KindRef): Informer<any> {
    const informer = this.#informers.get(kind);
    if (!informer) throw new Error(`controller ${this.controller.name} does not follow ${kind.kind}`);
    return informer;
  }

  /** Turns changes of all kinds that the controller names into keys. */
  #subscribe(): (() => void)[] {
    const { watches, owns = [], ignoresNew = [], ignoresUpdate, also = [] } = this.controller;
    const sources: Related[] = [
      ...(watches ? [{ kind: watches, keysOf: (object: DeepReadonly<KubeObject>) => [keyOf(object)] }] : []),
      ...owns.map((kind) => ({
        kind,
        keysOf: (object: DeepReadonly<KubeObject>) => ownerKeys(object, watches),
        ignoresNew: ignoresNew.includes(kind),
        ignores: ignoresUpdate,
      })),
      ...also,
    ];
    // All informers exist before the first change is handled: it may need any of them.
    for (const { kind, selection } of sources) {
      this.#informers.set(kind, this.#env.informers.of<KubeObject>(kind, selection));
    }
    return sources.map((source) =>
      this.#informer(source.kind).onChange((change: Change<KubeObject>) => {
        if (change.type === 'add' && source.ignoresNew) return;
        if (change.type === 'update' && source.ignores?.(change.object, change.old)) return;
        for (const key of source.keysOf(change.object, this.#listers)) this.#loop.add(key);
        if (change.type !== 'update') return;
        for (const key of source.keysOf(change.old, this.#listers)) this.#loop.add(key);
      }),
    );
  }

  async #reconcile(key: string, errors: readonly Error[]): Promise<void> {
    this.#watches.end(key);
    await this.#perform(key, await this.#plan(key, errors.map(failureOf)));
  }

  async #plan(key: string, failures: readonly Failure[]): Promise<Plan> {
    const { clock, signal } = this.#env;
    const client = this.#client;
    const { watches, observe, plan } = this.controller;
    const world = { key: splitKey(key), of: this.#listers.of, failures };
    // The object is read once: a plan must not combine it with observations of another version.
    const object = watches && this.#listers.of(watches).get(world.key.name, world.key.namespace);
    const observed = await observe?.(object, world, { client, signal, now: new Date(clock.now()) });
    this.#env.monitor?.begin({ work: 'controller', describe: () => ({ controller: this.controller.name, key }) });
    const snapshot: Snapshot<unknown> = { observed, pace: this.budget, ...world };
    const planned = plan(object, snapshot, new Date(clock.now()));
    return isDivided(planned) ? inTurns(this.budget, planned, this.#env) : planned;
  }

  async #perform(key: string, plan: Plan): Promise<void> {
    const { signal } = this.#env;
    const client = this.#client;
    // Requeueing holds even when an action fails.
    for (const action of plan) {
      if (action.type === 'requeueAfter') this.#loop.addAfter(key, action.milliseconds);
    }
    const onWrite = (write: Write) => this.#wrote(key, write);
    const listerOf = (kind: KindRef) => this.#informers.get(kind)?.lister;
    const record: Performer['record'] = (object, { eventType, reason, message }) =>
      this.#recorder.event(object, eventType, reason, message);
    await performAll(plan.filter(isApiAction), { client, listerOf, signal, onWrite, record, budget: this.budget });
    const changes = plan.filter((action) => action.type === 'requeueOnChange');
    this.#watches.start(key, changes);
  }

  /** Plans do not depend on kinds without an informer, so that their writes are not waited for. */
  #wrote(key: string, write: Write): void {
    const cache = this.#informers.get(write.kind);
    if (!cache) return;
    if (write.type === 'version') this.#loop.wrote(key, { cache, version: Number(write.resourceVersion) });
    else this.#loop.wrote(key, { cache, isShown: (lister: Lister<any>) => isGone(write.object, lister) });
  }
}

function isDivided(planned: Plan | DividedWork<Plan>): planned is DividedWork<Plan> {
  return !Array.isArray(planned);
}

function failureOf(error: Error): Failure {
  return error instanceof ActionFailure ? { action: error.action, error: error.cause } : { error };
}

function isGone({ metadata }: Named, lister: Lister<any>): boolean {
  const known = lister.get(metadata.name ?? '', metadata.namespace);
  return !known || known.metadata.uid !== metadata.uid || known.metadata.deletionTimestamp !== undefined;
}

/** Returns the key of the controlling owner if it is of the kind. */
function ownerKeys(object: DeepReadonly<KubeObject>, kind: KindRef | undefined): string[] {
  const { metadata } = object;
  const owner = controllerOf(object);
  if (!kind || !owner || owner.kind !== kind.kind || splitApiVersion(owner.apiVersion)[0] !== kind.group) return [];
  return [kind.scope === 'Namespaced' && metadata.namespace ? `${metadata.namespace}/${owner.name}` : owner.name];
}

function splitKey(key: string): Snapshot['key'] {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
