/** A plan while it is made. */
import type { SeenPod } from '../../container-run.ts';
import type { Action, Plan, PlannedEvent, PodDecision } from '../action.ts';
import type { ContainerState, PodState, Settled } from '../state.ts';

const NO_ACTIONS: readonly Action[] = Object.freeze([]);
const NO_EVENTS: readonly PlannedEvent[] = Object.freeze([]);
const NO_DECISIONS: readonly PodDecision[] = Object.freeze([]);

/** Pods with fewer containers are gone through as a whole. */
const MIN_CONTAINERS_TO_SETTLE = 8;

/** Most plans are empty, and there are many: nothing is allocated for what there is not. */
export class PlanDraft implements Plan {
  actions: readonly Action[] = NO_ACTIONS;
  events: readonly PlannedEvent[] = NO_EVENTS;
  decisions: readonly PodDecision[] = NO_DECISIONS;
  nextAt: number | undefined = undefined;
  isFinished = false;
  /** Containers before this position need not be looked at. */
  settledBefore = 0;
  stoppedFrom: number | undefined = undefined;

  constructor(
    readonly pod: SeenPod,
    readonly state: PodState,
    readonly now: number,
  ) {
    const { settled } = state;
    if (settled?.pod !== pod || settled.now !== now) return;
    this.settledBefore = settled.before;
    this.stoppedFrom = settled.stoppedFrom;
    this.nextAt = settled.nextAt;
  }

  get settled(): Settled | undefined {
    if (this.state.containers.length < MIN_CONTAINERS_TO_SETTLE) return undefined;
    const { pod, now, settledBefore: before, nextAt, stoppedFrom } = this;
    return { pod, now, before, nextAt, stoppedFrom };
  }

  act(action: Action): void {
    if (this.actions === NO_ACTIONS) this.actions = [action];
    else (this.actions as Action[]).push(action);
  }

  decide(decision: PodDecision): void {
    if (this.decisions === NO_DECISIONS) this.decisions = [decision];
    else (this.decisions as PodDecision[]).push(decision);
  }

  event(type: PlannedEvent['type'], reason: string, message: string, container?: ContainerState): void {
    if (this.events === NO_EVENTS) this.events = [];
    (this.events as PlannedEvent[]).push({ type, reason, message, container });
  }

  /** Takes note that the containers up to this one want nothing, if nothing was planned for any of them. */
  settle(position: number): void {
    if (position !== this.settledBefore) return;
    if (this.actions === NO_ACTIONS && this.decisions === NO_DECISIONS) this.settledBefore = position + 1;
  }

  /** Plans again at that time, or earlier. */
  wakeAt(time: number): void {
    if (this.nextAt === undefined || time < this.nextAt) this.nextAt = time;
  }

  /** Reports whether a failed step is to be retried now; otherwise sets a wake-up for its time. */
  isDue(retryAt: number): boolean {
    if (this.now >= retryAt) return true;
    this.wakeAt(retryAt);
    return false;
  }
}
