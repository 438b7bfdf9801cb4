import { Histogram } from '../base/metrics/histogram.ts';
import { head, labelsOf } from '../base/metrics/text.ts';
import type { WaitingState } from './queue/waiting-pod.ts';

type SchedulingResult = 'scheduled' | 'unschedulable' | 'error';
const OUTCOMES: readonly SchedulingResult[] = ['error', 'scheduled', 'unschedulable'];

/** The queues of Kubernetes' scheduler. A pod that is being scheduled counts as active, as there. */
const QUEUES: Readonly<Record<string, readonly WaitingState[]>> = {
  active: ['ready', 'tried'],
  backoff: ['backing off'],
  gated: ['gated'],
  unschedulable: ['unschedulable'],
};

/** Bounds of the buckets, as dashboards expect them. */
const BUCKETS_SECONDS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const BUCKETS_VICTIMS = [1, 2, 4, 8, 16, 32, 64];

const ATTEMPTS = 'scheduler_schedule_attempts_total';
const DURATIONS = 'scheduler_scheduling_attempt_duration_seconds';
const PENDING = 'scheduler_pending_pods';
const PREEMPTIONS = 'scheduler_preemption_attempts_total';
const VICTIMS = 'scheduler_preemption_victims';

/** Measures a scheduler, under the names that dashboards use. */
export class SchedulerMetrics {
  readonly #attempts = new Map(
    OUTCOMES.map((outcome) => [outcome, { count: 0, durations: new Histogram(BUCKETS_SECONDS) }]),
  );
  readonly #victims = new Histogram(BUCKETS_VICTIMS);
  #preemptions = 0;
  #waiting: () => Iterable<WaitingState> = () => [];

  /** Names the pods that wait, by their states. */
  follow(waiting: () => Iterable<WaitingState>): void {
    this.#waiting = waiting;
  }

  attempted(outcome: SchedulingResult, seconds: number): void {
    const attempts = this.#attempts.get(outcome)!;
    attempts.count++;
    attempts.durations.observe(seconds);
  }

  /** Counts a preemption. `victims` is the number of pods that make room; 0 if that would not help. */
  preempted(victims: number): void {
    this.#preemptions++;
    if (victims > 0) this.#victims.observe(victims);
  }

  *lines(): Generator<string> {
    yield head(ATTEMPTS, 'counter', 'Number of attempts to schedule a pod by result.');
    const profile = 'default-scheduler';
    for (const [result, { count }] of this.#attempts) yield `${ATTEMPTS}{${labelsOf({ profile, result })}} ${count}`;
    yield head(DURATIONS, 'histogram', 'Time of an attempt, with the binding of the pod, in seconds.');
    for (const [result, { durations }] of this.#attempts)
      yield* durations.lines(DURATIONS, labelsOf({ profile, result }));
    yield head(PENDING, 'gauge', 'Number of pods that wait for a node by queue.');
    const states = [...this.#waiting()];
    for (const [queue, members] of Object.entries(QUEUES)) {
      yield `${PENDING}{${labelsOf({ queue })}} ${states.filter((state) => members.includes(state)).length}`;
    }
    yield head(PREEMPTIONS, 'counter', 'Number of attempts to make room for a pod.');
    yield `${PREEMPTIONS} ${this.#preemptions}`;
    yield head(VICTIMS, 'histogram', 'Number of pods that were chosen to make room for another.');
    yield* this.#victims.lines(VICTIMS, '');
  }
}
