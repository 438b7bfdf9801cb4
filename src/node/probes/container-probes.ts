/**
 * The probes of one running container. They run on the clock's timers until the container ends or `stop` is called. The
 * startup probe comes before the others.
 */
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { SeenContainer } from '../pod/container-run.ts';
import { type CheckTarget, check, type Probe } from './check.ts';
import type { ProbeOutcome } from './outcome.ts';
import { afterProbe, firstProbe, type ProbeProgress, type ProbeType } from './schedule.ts';

export interface ProbeResults {
  /** Undefined: not known yet. Without such a probe, all are true as soon as the container runs. */
  readonly started: boolean | undefined;
  readonly ready: boolean | undefined;
  readonly live: boolean | undefined;
}

export interface ContainerProbesOptions extends CheckTarget {
  readonly clock: Clock;
  readonly startedAt: number;
  /** Results of an earlier agent, which hold until there are new ones. A container that has started is not probed for that. */
  readonly reported?: { readonly started: boolean | undefined; readonly ready: boolean | undefined };
  /** Called after the results have changed. */
  readonly onChange: (results: ProbeResults) => void;
  /** Called for a check that did not pass: a warning event about the container. */
  readonly onEvent: (reason: 'Unhealthy' | 'ProbeWarning', message: string) => void;
}

/** How often a probe has had a result since the container started. */
export interface ProbeCount {
  readonly type: ProbeType;
  readonly result: 'successful' | 'failed' | 'unknown';
  readonly count: number;
}

/** How often a check that could not be performed is tried again at once. */
const MAX_ATTEMPTS = 3;

interface Running {
  readonly type: ProbeType;
  readonly counts: Map<ProbeCount['result'], number>;
  readonly probe: Probe;
  progress: ProbeProgress;
  timer: Timer | undefined;
}

export class ContainerProbes {
  readonly #probes = new Map<ProbeType, Running>();
  #isStopped = false;
  #isEnding = false;

  constructor(private readonly options: ContainerProbesOptions) {
    const { startup: ofStart, others } = probesOf(options.container);
    const startup = options.reported?.started ? undefined : ofStart;
    if (startup) this.#add('Startup', startup);
    for (const [type, probe] of others) this.#add(type, probe);
    if (startup) this.#arm('Startup');
    else this.#startOthers();
  }

  get results(): ProbeResults {
    const resultOf = (type: ProbeType) => {
      const running = this.#probes.get(type);
      return running ? running.progress.result : true;
    };
    const started = resultOf('Startup');
    return {
      started,
      ready: started === true ? (resultOf('Readiness') ?? this.options.reported?.ready) === true : false,
      // A failed startup probe ends the container as a failed liveness probe does.
      live: started === false ? false : resultOf('Liveness') !== false,
    };
  }

  /** Which probe failed, if one ended the container. */
  get failed(): { readonly type: ProbeType; readonly graceSeconds: number | undefined } | undefined {
    for (const type of ['Startup', 'Liveness'] as const) {
      const running = this.#probes.get(type);
      if (running?.progress.result === false) {
        return { type, graceSeconds: running.probe.terminationGracePeriodSeconds };
      }
    }
    return undefined;
  }

  get counts(): readonly ProbeCount[] {
    return [...this.#probes.values()].flatMap(({ type, counts }) =>
      [...counts].map(([result, count]) => ({ type, result, count })),
    );
  }

  /** The container is being stopped: only its readiness still matters. */
  end(): void {
    this.#isEnding = true;
    for (const { type, timer } of this.#probes.values()) if (type !== 'Readiness') timer?.cancel();
  }

  stop(): void {
    this.#isStopped = true;
    for (const running of this.#probes.values()) running.timer?.cancel();
  }

  #add(type: ProbeType, probe: Probe): void {
    this.#probes.set(type, { type, probe, counts: new Map(), progress: this.#first(probe), timer: undefined });
  }

  #startOthers(): void {
    for (const type of ['Liveness', 'Readiness'] as const) {
      const running = this.#probes.get(type);
      if (running) running.progress = this.#first(running.probe);
      this.#arm(type);
    }
  }

  #first(probe: Probe): ProbeProgress {
    const { clock, startedAt, reported } = this.options;
    return firstProbe(probe, { startedAt, now: clock.now(), wasReady: reported?.ready === true });
  }

  #arm(type: ProbeType): void {
    const running = this.#probes.get(type);
    if (!running || this.#isOver(type)) return;
    const { clock } = this.options;
    const { dueAt } = running.progress;
    if (dueAt === undefined) return;
    running.timer = clock.timer(dueAt - clock.now(), () => void this.#run(running));
  }

  async #run(running: Running): Promise<void> {
    const { clock, onChange } = this.options;
    const { type, probe } = running;
    const outcome = await this.#attempt(probe);
    if (this.#isOver(type)) return;
    const before = this.results;
    this.#report(type, outcome);
    const result = RESULTS[outcome.type];
    running.counts.set(result, (running.counts.get(result) ?? 0) + 1);
    running.progress = afterProbe(type, probe, running.progress, { outcome: passed(outcome), now: clock.now() });
    if (type === 'Startup' && running.progress.result === true) this.#startOthers();
    this.#arm(type);
    const { started, ready, live } = this.results;
    if (started !== before.started || ready !== before.ready || live !== before.live) onChange(this.results);
  }

  #isOver(type: ProbeType): boolean {
    return this.#isStopped || (this.#isEnding && type !== 'Readiness');
  }

  async #attempt(probe: Probe): Promise<ProbeOutcome> {
    for (let attempts = 1; ; attempts++) {
      const outcome = await check(probe, this.options);
      if (outcome.type !== 'error' || attempts >= MAX_ATTEMPTS || this.#isStopped) return outcome;
    }
  }

  #report(type: ProbeType, outcome: ProbeOutcome): void {
    const { onEvent } = this.options;
    switch (outcome.type) {
      case 'success':
        return;
      case 'warning':
        onEvent('ProbeWarning', `${type} probe warning: ${outcome.output}`);
        return;
      case 'failure':
        onEvent('Unhealthy', `${type} probe failed: ${outcome.output}`);
        return;
      case 'error':
        onEvent('Unhealthy', `${type} probe errored and resulted in unknown state: ${outcome.message}`);
    }
  }
}

/** A warning is a success that somebody should look at. */
const RESULTS = { success: 'successful', warning: 'successful', failure: 'failed', error: 'unknown' } as const;

function passed({ type }: ProbeOutcome): boolean | undefined {
  return type === 'error' ? undefined : type !== 'failure';
}

/** Reports whether the container has a probe. Only then its results change while it runs. */
export function hasProbes(container: SeenContainer): boolean {
  const { startup, others } = probesOf(container);
  return startup !== undefined || others.length > 0;
}

function probesOf(container: SeenContainer) {
  const { startupProbe, livenessProbe, readinessProbe } = container as {
    readonly [Name in 'startupProbe' | 'livenessProbe' | 'readinessProbe']?: Probe;
  };
  const others: [ProbeType, Probe][] = [];
  if (livenessProbe) others.push(['Liveness', livenessProbe]);
  if (readinessProbe) others.push(['Readiness', readinessProbe]);
  return { startup: startupProbe, others };
}
