/**
 * Drives one pod: observes what the runtime reports, plans, begins the planned actions, and reports the status. It takes one
 * turn at a time, and another one when something has happened.
 */

import { deepEqual } from '../../../base/json/tree.ts';
import type { Logger } from '../../../base/log.ts';
import type { Timer } from '../../../base/time/clock.ts';
import type { Rejection } from '../../admission/rejection.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Action, ActionOutcome, Plan, PlannedEvent } from '../../pod/plan/action.ts';
import { adoptPod, alignContainers } from '../../pod/plan/adopt.ts';
import { planPod } from '../../pod/plan/plan-pod.ts';
import { begin, finish, observe } from '../../pod/plan/record.ts';
import { isReplacingContainer } from '../../pod/plan/report.ts';
import { admittedPod } from '../../pod/plan/resize.ts';
import type { PodFailure, PodState } from '../../pod/plan/state.ts';
import type { ActionContext } from '../actions/context.ts';
import { perform } from '../actions/perform.ts';
import type { AgentCounters } from '../counters.ts';
import type { RuntimeView } from '../runtime-view.ts';
import { PodProbes } from './pod-probes.ts';
import type { Records } from './records.ts';
import { Resizes } from './resizes.ts';

export interface PodWorkerOptions {
  readonly context: ActionContext;
  readonly view: RuntimeView;
  readonly records: Records;
  readonly log: Logger;
  readonly counters: AgentCounters;
  readonly emit: (pod: SeenPod, event: PlannedEvent) => void;
  /** Why the node does not run a pod that it has nothing of yet. */
  readonly admit: (pod: SeenPod) => Promise<PodFailure | undefined>;
  /** Why the node has no room for changed resources. */
  readonly admitResize: (pod: SeenPod) => Promise<Rejection | undefined>;
  readonly onResized: () => void;
  /** Called after every turn whose state is to be shown. */
  readonly onStatus: (worker: PodWorker) => void;
}

/** Until a turn is taken again that failed, because the runtime does not answer. */
const RETRY_MS = 1_000;

export class PodWorker {
  readonly #probes: PodProbes;
  readonly #resizes: Resizes;
  /** Stops of containers that are under way, by container. */
  readonly #stops = new Map<string, AbortController>();
  readonly #actions = new Set<Promise<void>>();
  /** IDs of ended containers that are counted. */
  readonly #ended = new Set<string>();
  #pod: SeenPod;
  #isRemoved = false;
  #failure: PodFailure | undefined;
  #state: PodState | undefined;
  #listed: number | undefined;
  #turn: Promise<void> | undefined;
  #isAwake = false;
  #isStopped = false;
  #isFinished = false;
  #timer: Timer | undefined;
  #refresh: { at: number; timer: Timer } | undefined;

  constructor(
    pod: SeenPod,
    private readonly options: PodWorkerOptions,
  ) {
    this.#pod = pod;
    const emit = (event: PlannedEvent) => this.#emit(event);
    this.#probes = new PodProbes({ context: options.context, emit, wake: () => this.wake() });
    this.#resizes = new Resizes({ admit: options.admitResize, emit, onDone: options.onResized });
  }

  get pod(): SeenPod {
    return this.#pod;
  }

  /** Undefined until its first turn. */
  get state(): PodState | undefined {
    return this.#state;
  }

  /** Results of the probes of running containers. */
  get probeCounts(): ReturnType<PodProbes['counts']> {
    return this.#probes.counts();
  }

  /** True when nothing of the pod is left on the node. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** True when the API does not know the pod any more. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  update(pod: SeenPod): void {
    if (!showsTheSame(this.#pod, pod)) {
      // The next turn brings its volumes up to date.
      this.#refresh?.timer.cancel();
      this.#refresh = undefined;
    }
    this.#pod = pod;
    this.wake();
  }

  /** The pod is gone from the API: what is left of it on the node ends. */
  remove(): void {
    this.#isRemoved = true;
    this.wake();
  }

  /** Ends the pod, for example to relieve the node. */
  fail(failure: PodFailure): void {
    this.#failure ??= failure;
    this.wake();
  }

  /** Takes a turn soon. */
  wake(): void {
    this.#isAwake = true;
    this.#turn ??= this.#takeTurns();
  }

  /** Takes no more turns; what runs goes on. Resolves when no action is under way that would end soon. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#refresh?.timer.cancel();
    this.#probes.stop();
    for (const stop of this.#stops.values()) stop.abort();
    await this.#turn;
  }

  async #takeTurns(): Promise<void> {
    const { clock } = this.options.context;
    while (this.#isAwake && !this.#isStopped) {
      this.#isAwake = false;
      try {
        await this.#takeTurn();
      } catch (error) {
        if (this.#isStopped) return;
        this.options.log.warn('cannot advance a pod', { pod: this.#name, error: String(error) });
        this.#wakeAt(clock.now() + RETRY_MS);
      }
    }
    // At once, and not when the promise has settled: what happens in between would not be noticed.
    this.#turn = undefined;
  }

  async #takeTurn(): Promise<void> {
    const { context, onStatus } = this.options;
    if (this.#state) await this.#resizes.decide(this.#pod, this.#state);
    let state = await this.#observe();
    // Observe again while the state is newer than the listing: a seeming leftover may have been started since.
    while (state.revision !== this.#listed && !this.#isStopped) state = await this.#observe();
    if (this.#isStopped) return;
    this.options.counters.containersEnded(state.containers, this.#ended);
    const now = context.clock.now();
    alignContainers(state, this.#pod, now);
    state.isRemoved = this.#isRemoved;
    state.failure ??= this.#failure;
    const plan = planPod(this.#pod, state, now);
    begin(state, plan, now);
    for (const event of plan.events) this.#emit(event);
    for (const action of plan.actions) this.#perform(state, action);
    this.#wakeAt(plan.nextAt);
    this.#follow(state, plan);
    if (!isReplacingContainer(state)) onStatus(this);
  }

  #follow(state: PodState, plan: Plan): void {
    if (plan.isFinished) {
      this.#isFinished = true;
      this.#probes.stop();
      return;
    }
    this.#probes.follow(this.#pod, state);
    const isUsed = state.volumes.type === 'done' && state.endPhase === undefined && state.stopRequestedAt === undefined;
    if (isUsed) this.#keepVolumesFresh();
  }

  /** The state after what the runtime reports now. It is listed again only after something was done. */
  async #observe(): Promise<PodState> {
    const { view, records, context, admit } = this.options;
    const uid = this.#pod.metadata.uid ?? '';
    if (!this.#state) {
      const read = await records.read(this.#pod, view.of(uid));
      const isNew = read.sandboxes.length === 0 && !this.#isRemoved;
      if (isNew && !this.#pod.metadata.deletionTimestamp && !hasEnded(this.#pod)) {
        this.#failure ??= await admit(this.#pod);
      }
      this.#state = adoptPod(this.#pod, read, context.clock.now());
      this.#listed = this.#state.revision;
      // Containers that had ended before were counted by the agent of that time.
      for (const { id, state } of this.#state.containers.flatMap(({ records: all }) => all)) {
        if (state === 'exited') this.#ended.add(id);
      }
      return this.#state;
    }
    for (;;) {
      const { revision } = this.#state;
      if (revision !== this.#listed) await view.refresh();
      const read = await records.read(this.#pod, view.of(uid));
      if (!observe(this.#state, { revision, ...read }, context.clock.now())) continue;
      this.#listed = revision;
      return this.#state;
    }
  }

  #perform(state: PodState, action: Action): void {
    const { context } = this.options;
    const end = new AbortController();
    const isStop = action.type === 'stop-container' || action.type === 'pre-stop';
    if (isStop) {
      this.#stops.get(action.id)?.abort();
      this.#stops.set(action.id, end);
    }
    const pod = admittedPod(this.#pod, state);
    const subject = { pod, state, emit: (event: PlannedEvent) => this.#emit(event) };
    const performing = perform(context, subject, { action, signal: end.signal }).then((outcome) => {
      this.#actions.delete(performing);
      if (isStop) {
        // A stop with a shorter grace period has taken over, and will tell.
        if (this.#stops.get(action.id) !== end) return;
        this.#stops.delete(action.id);
      }
      this.#count(state, action, outcome);
      finish(state, action, outcome, context.clock.now());
      this.wake();
    });
    this.#actions.add(performing);
  }

  #count({ containers }: PodState, action: Action, outcome: ActionOutcome): void {
    const { counters } = this.options;
    if (action.type === 'run-sandbox') counters.podStarted(outcome.type === 'done');
    if (action.type !== 'start-container') return;
    const { role } = containers[action.position]!;
    counters.containerStarted(role, outcome.type === 'done' ? undefined : outcome.reason);
  }

  /** Configuration that is mounted changes while the pod runs. */
  #keepVolumesFresh(at?: number): void {
    const { context, log } = this.options;
    const { clock, volumes } = context;
    if (this.#refresh && (at === undefined || this.#refresh.at <= at)) return;
    this.#refresh?.timer.cancel();
    const due = at ?? clock.now();
    const run = async () => {
      try {
        const { nextAt } = await volumes.refresh(this.#pod);
        if (this.#isStopped || this.#isFinished || nextAt === undefined) return;
        this.#refresh = undefined;
        this.#keepVolumesFresh(nextAt);
      } catch (error) {
        log.warn('cannot refresh the volumes of a pod', { pod: this.#name, error: String(error) });
        this.#refresh = undefined;
        if (!this.#isStopped && !this.#isFinished) this.#keepVolumesFresh(clock.now() + VOLUME_RETRY_MS);
      }
    };
    this.#refresh = { at: due, timer: clock.timer(due - clock.now(), () => void run()) };
  }

  #wakeAt(time: number | undefined): void {
    const { clock } = this.options.context;
    this.#timer?.cancel();
    this.#timer = time === undefined ? undefined : clock.timer(time - clock.now(), () => this.wake());
  }

  #emit(event: PlannedEvent): void {
    this.options.emit(this.#pod, event);
  }

  get #name(): string {
    const { namespace, name } = this.#pod.metadata;
    return `${namespace}/${name}`;
  }
}

const VOLUME_RETRY_MS = 60_000;

const hasEnded = ({ status: { phase } }: SeenPod) => phase === 'Succeeded' || phase === 'Failed';

/** Reports whether the downward API shows the same for both. */
function showsTheSame(a: SeenPod, b: SeenPod): boolean {
  return (
    deepEqual(a.metadata.labels, b.metadata.labels) &&
    deepEqual(a.metadata.annotations, b.metadata.annotations) &&
    deepEqual(a.spec, b.spec)
  );
}
