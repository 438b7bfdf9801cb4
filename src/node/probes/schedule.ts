/** When a probe runs, and what its results mean. Times are milliseconds since the epoch. */

export type ProbeType = 'Startup' | 'Liveness' | 'Readiness';

/** The numbers of a probe; zero and undefined stand for the defaults. */
export interface ProbeTiming {
  readonly initialDelaySeconds?: number | undefined;
  readonly periodSeconds?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly successThreshold?: number | undefined;
  readonly failureThreshold?: number | undefined;
}

export interface ProbeProgress {
  /** When the probe runs next; undefined: not any more while this container runs. */
  readonly dueAt: number | undefined;
  /** True when the program may not be listening yet at the first probe. */
  readonly isEarly: boolean;
  /** The last outcome, and how often it occurred in a row. */
  readonly last: boolean | undefined;
  readonly run: number;
  /** Result that counts, once a threshold was reached. */
  readonly result: boolean | undefined;
}

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_TIMEOUT_SECONDS = 1;
const DEFAULT_FAILURE_THRESHOLD = 3;
/** Programs need a moment until they listen; kubelet looks again when it notices the new container, about a second later. */
const SECOND_READINESS_PROBE_MS = 1_000;

export const timeoutOf = ({ timeoutSeconds }: ProbeTiming) => (timeoutSeconds || DEFAULT_TIMEOUT_SECONDS) * 1_000;

const periodOf = ({ periodSeconds }: ProbeTiming) => (periodSeconds || DEFAULT_PERIOD_SECONDS) * 1_000;

interface StartedContainer {
  readonly startedAt: number;
  /** Later than that after a restart of the agent. */
  readonly now: number;
  /** True when an earlier agent has reported it as ready. */
  readonly wasReady: boolean;
}

/** The progress of a probe of a container that has started. */
export function firstProbe(timing: ProbeTiming, { startedAt, now, wasReady }: StartedContainer): ProbeProgress {
  const { initialDelaySeconds = 0 } = timing;
  const dueAt = Math.max(now, startedAt + initialDelaySeconds * 1_000);
  return { dueAt, isEarly: !wasReady && initialDelaySeconds === 0, last: undefined, run: 0, result: undefined };
}

/**
 * The progress after a probe. `outcome` is undefined when it could not be performed, which counts for nothing. A startup or
 * liveness probe that failed for good runs no more: its container is restarted. A startup probe that succeeded is done.
 */
export function afterProbe(
  type: ProbeType,
  timing: ProbeTiming,
  progress: ProbeProgress,
  { outcome, now }: { readonly outcome: boolean | undefined; readonly now: number },
): ProbeProgress {
  const isRetried = type === 'Readiness' && outcome === false && progress.isEarly && progress.last === undefined;
  const pause = isRetried ? Math.min(SECOND_READINESS_PROBE_MS, periodOf(timing)) : periodOf(timing);
  const dueAt = nextDue(progress.dueAt ?? now, pause, now);
  if (outcome === undefined) return { ...progress, dueAt };
  const run = outcome === progress.last ? progress.run + 1 : 1;
  const threshold = outcome ? timing.successThreshold || 1 : timing.failureThreshold || DEFAULT_FAILURE_THRESHOLD;
  if (run < threshold) return { ...progress, dueAt, last: outcome, run };
  const isOver = type === 'Startup' || (type === 'Liveness' && !outcome);
  return { ...progress, dueAt: isOver ? undefined : dueAt, last: outcome, run, result: outcome };
}

/** Probes keep their rhythm; one that took longer than its period is followed by the next one at once. */
function nextDue(dueAt: number, period: number, now: number): number {
  return Math.max(now, dueAt + period);
}
