/**
 * The loop that runs every controller. It takes a key, waits until the caches show what the controller wrote for it before,
 * asks for a plan, performs it, and retries with back-off. It knows no kind.
 */
import { setMaxListeners } from 'node:events';
import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly, KindRef } from '../../api/object-types.ts';
import { type DividedWork, inTurns } from '../../base/event-loop/in-turns.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { WorkQueue } from '../../base/event-loop/work-queue.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import { CONTROLLER_MANAGER } from '../../client/component-users.ts';
import { createEventRecorder, type EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import type { InformerFactory } from '../../client/informer/informer-factory.ts';
import { type Change, controllerOf, keyOf } from '../../client/informer/object-cache.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { ChangeWatches } from './change-watches.ts';
import type { Controller, Failure, Listers, Related, Snapshot } from './define.ts';
import { OwnWrites } from './own-writes.ts';
import { ActionFailure, isApiAction, type Performer, performAll } from './perform.ts';
import type { Plan } from './plan.ts';
import type { QueueMetrics } from './queue-metrics.ts';

export interface ControllerEnvironment {
  /**
   * Returns a client that acts as a service account: each controller has its own; shared requests use that of the
   * controller manager.
   */
  readonly clientOf: (account: string) => Client;
  /** Shared by all controllers. */
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Monitor that is notified which controller runs. */
  readonly monitor?: WorkMonitor | undefined;
  /** Metrics; absent when nothing is measured. */
  readonly metrics?: QueueMetrics | undefined;
  readonly signal: AbortSignal;
}

const DEFAULT_WORKERS = 10;

/** Number of errors that are kept for the next plan, and number that are logged: the rest look alike. */
const MAX_KEPT_FAILURES = 100;
const MAX_LOGGED_ERRORS = 10;
/** Limit for a message, which may quote a client's text. */
const MAX_LOGGED_ERROR_LENGTH = 1000;

/** Runs until the signal is aborted; resolves when the last action has ended. */
export async function runControllers(
  controllers: readonly Controller[],
  environment: ControllerEnvironment,
): Promise<void> {
  // Every request and wait listens to it; Node warns about more than ten listeners.
  setMaxListeners(0, environment.signal);
  const budget = new TurnBudget(environment.clock);
  await Promise.all(controllers.map((controller) => new ControllerLoop(controller, environment, budget).run()));
}

class ControllerLoop {
  readonly #controller: Controller;
  readonly #env: ControllerEnvironment;
  readonly #budget: TurnBudget;
  readonly #client: Client;
  readonly #log: Logger;
  readonly #queue: WorkQueue;
  readonly #informers = new Map<KindRef, Informer<any>>();
  readonly #listers: Listers;
  readonly #ownWrites: OwnWrites;
  readonly #watches: ChangeWatches;
  readonly #recorder: EventRecorder;
  readonly #failures = new Map<string, readonly Failure[]>();

  /** `budget` limits the share of all controllers together in a turn of the event loop. */
  constructor(controller: Controller, environment: ControllerEnvironment, budget: TurnBudget) {
    const { clientOf, clock, random, log, metrics } = environment;
    this.#controller = controller;
    this.#env = environment;
    this.#budget = budget;
    this.#client = clientOf(controller.account);
    this.#log = log.with({ controller: controller.name });
    this.#queue = new WorkQueue({ clock, random, observer: metrics?.observe(controller.name) });
    this.#listers = { of: (kind) => this.#informer(kind).lister };
    this.#ownWrites = new OwnWrites((kind) => this.#informers.get(kind), clock);
    const wake = (key: string, delay: number) => this.#queue.addAfter(key, delay);
    this.#watches = new ChangeWatches({ client: clientOf(CONTROLLER_MANAGER), clock, log: this.#log, wake });
    const { component = `${controller.name}-controller` } = controller;
    this.#recorder = createEventRecorder({ ...environment, client: this.#client, log: this.#log, component });
  }

  async run(): Promise<void> {
    const { signal } = this.#env;
    const leave = this.#subscribe();
    const wake = (key: string) => this.#queue.add(key);
    const feed = this.#controller.feed?.({ ...this.#env, client: this.#client, log: this.#log, wake });
    try {
      await Promise.race([Promise.all([this.#synced(), feed?.ready]), whenAborted(signal)]);
      const { workers = DEFAULT_WORKERS } = this.#controller;
      await this.#queue.run((key) => this.#reconcile(key), { workers, signal });
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
    if (!informer) throw new Error(`controller ${this.#controller.name} does not follow ${kind.kind}`);
    return informer;
  }

  /** Turns changes of all kinds that the controller names into keys. */
  #subscribe(): (() => void)[] {
    const { watches, owns = [], ignoresNew = [], ignoresUpdate, also = [] } = this.#controller;
    const sources: Related[] = [
      ...(watches ? [{ kind: watches, keysOf: (object: DeepReadonly<KubeObject>) => [keyOf(object)] }] : []),
      ...owns.map((kind) => ({
        kind,
        keysOf: (object: DeepReadonly<KubeObject>) => ownerKeys(object, watches),
        ignoresNew: ignoresNew.includes(kind),
        ...(ignoresUpdate ? { ignores: ignoresUpdate } : {}),
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
        for (const key of source.keysOf(change.object, this.#listers)) this.#queue.add(key);
        if (change.type !== 'update') return;
        for (const key of source.keysOf(change.old, this.#listers)) this.#queue.add(key);
      }),
    );
  }

  async #reconcile(key: string): Promise<void> {
    const { signal } = this.#env;
    this.#watches.end(key);
    try {
      if (!(await this.#ownWrites.seen(key, signal)))
        this.#log.warn('the cache does not show own writes in time', { key });
      if (this.#budget.isSpent()) await this.#budget.nextTurn();
      if (signal.aborted) return;
      await this.#perform(key, await this.#plan(key));
      this.#failures.delete(key);
      this.#queue.forget(key);
    } catch (error) {
      if (!signal.aborted) this.#failed(key, error);
    }
  }

  async #plan(key: string): Promise<Plan> {
    const { clock, signal } = this.#env;
    const client = this.#client;
    const { watches, observe, plan } = this.#controller;
    const world = { key: splitKey(key), of: this.#listers.of };
    // The object is read once: a plan must not combine it with observations of another version.
    const object = watches && this.#listers.of(watches).get(world.key.name, world.key.namespace);
    const observed = await observe?.(object, world, { client, signal, now: new Date(clock.now()) });
    this.#env.monitor?.begin({ work: 'controller', describe: () => ({ controller: this.#controller.name, key }) });
    const failures = this.#failures.get(key) ?? [];
    const snapshot: Snapshot<unknown> = { observed, failures, pace: this.#budget, ...world };
    const planned = plan(object, snapshot, new Date(clock.now()));
    return isDivided(planned) ? inTurns(this.#budget, planned, this.#env) : planned;
  }

  async #perform(key: string, plan: Plan): Promise<void> {
    const { signal } = this.#env;
    const client = this.#client;
    // Requeueing holds even when an action fails.
    for (const action of plan) {
      if (action.type === 'requeueAfter') this.#queue.addAfter(key, action.milliseconds);
    }
    const onWrite = (write: Parameters<OwnWrites['add']>[1]) => this.#ownWrites.add(key, write);
    const listerOf = (kind: KindRef) => this.#informers.get(kind)?.lister;
    const record: Performer['record'] = (object, { eventType, reason, message }) =>
      this.#recorder.event(object, eventType, reason, message);
    await performAll(plan.filter(isApiAction), { client, listerOf, signal, onWrite, record, budget: this.#budget });
    const changes = plan.filter((action) => action.type === 'requeueOnChange');
    this.#watches.start(key, changes);
  }

  #failed(key: string, error: unknown): void {
    const failures = ((error instanceof AggregateError ? error.errors : [error]) as Error[]).map(failureOf);
    const errors = failures.map((failure) => failure.error);
    this.#failures.set(key, failures.slice(0, MAX_KEPT_FAILURES));
    const logged = errors.slice(0, MAX_LOGGED_ERRORS).map((each) => String(each).slice(0, MAX_LOGGED_ERROR_LENGTH));
    const fields = { key, errors: logged, failures: this.#queue.failures(key) + 1 };
    // Another writer was faster: the next plan sees the result.
    const stale = errors.every((each) => isApiError(each, 'Conflict', 'AlreadyExists', 'NotFound'));
    if (stale) this.#log.debug('a plan conflicted with another writer', fields);
    else this.#log.warn('a plan failed', fields);
    this.#queue.retry(key);
  }
}

function isDivided(planned: Plan | DividedWork<Plan>): planned is DividedWork<Plan> {
  return !Array.isArray(planned);
}

function failureOf(error: Error): Failure {
  return error instanceof ActionFailure ? { action: error.action, error: error.cause } : { error };
}

/** Returns the key of the controlling owner if it is of the kind. */
function ownerKeys(object: DeepReadonly<KubeObject>, kind: KindRef | undefined): string[] {
  const { metadata } = object;
  const owner = controllerOf(object);
  if (!kind || !owner || owner.kind !== kind.kind || groupOf(owner.apiVersion) !== kind.group) return [];
  return [kind.scope === 'Namespaced' && metadata.namespace ? `${metadata.namespace}/${owner.name}` : owner.name];
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

function splitKey(key: string): Snapshot['key'] {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
