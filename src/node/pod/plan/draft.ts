/** Collects what is planned for one pod. */
import type { SeenPod } from '../container-run.ts';
import type { Action, Decision, Plan, PlannedEvent } from './action.ts';
import type { ContainerState, PodState } from './state.ts';

const NOTHING: readonly never[] = Object.freeze([]);

export class Draft {
  readonly pod: SeenPod;
  readonly state: PodState;
  readonly now: number;
  isFinished = false;
  /** Containers before this position need not be looked at. */
  settledBefore: number;
  stoppedFrom: number | undefined;
  #actions: Action[] | undefined;
  #events: PlannedEvent[] | undefined;
  #decisions: Decision[] | undefined;
  #nextAt = Number.POSITIVE_INFINITY;

  constructor(pod: SeenPod, state: PodState, now: number) {
    this.pod = pod;
    this.state = state;
    this.now = now;
    const { settled } = state;
    const isValid = settled !== undefined && settled.pod === pod && settled.now === now;
    this.settledBefore = isValid ? settled.before : 0;
    this.stoppedFrom = isValid ? settled.stoppedFrom : undefined;
    if (isValid) this.#nextAt = settled.nextAt;
  }

  /** Takes note that the containers up to this one want nothing, if nothing was planned for any of them. */
  settle(position: number): void {
    if (position === this.settledBefore && !this.#actions && !this.#decisions) this.settledBefore = position + 1;
  }

  act(action: Action): void {
    this.#actions ??= [];
    this.#actions.push(action);
  }

  decide(decision: Decision): void {
    this.#decisions ??= [];
    this.#decisions.push(decision);
  }

  event(type: PlannedEvent['type'], reason: string, message: string, container?: ContainerState): void {
    this.#events ??= [];
    this.#events.push({ type, reason, message, container });
  }

  /** Plans again at that time, or earlier. */
  wakeAt(time: number): void {
    if (time < this.#nextAt) this.#nextAt = time;
  }

  /** Whether a failed step is to be tried now; wakes at its time otherwise. */
  isDue(retryAt: number): boolean {
    if (this.now >= retryAt) return true;
    this.wakeAt(retryAt);
    return false;
  }

  plan(): Plan {
    return {
      actions: this.#actions ?? NOTHING,
      events: this.#events ?? NOTHING,
      decisions: this.#decisions ?? NOTHING,
      nextAt: this.#nextAt === Number.POSITIVE_INFINITY ? undefined : this.#nextAt,
      isFinished: this.isFinished,
      settled: {
        ...{ pod: this.pod, now: this.now, before: this.settledBefore, nextAt: this.#nextAt },
        stoppedFrom: this.stoppedFrom,
      },
    };
  }
}
