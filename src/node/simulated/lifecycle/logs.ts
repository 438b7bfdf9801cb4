/**
 * Generates logs. Nothing is stored: every line is derived from the start of its container, so that a log of weeks costs
 * nothing and its end can be read at once.
 */

import { ApiError, badRequest } from '../../../api/errors.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { ContainerLogRequest } from '../../logs/container-log.ts';
import type { Termination } from '../../pod/container-run.ts';
import { containerOf } from '../../pod/phase.ts';
import { endOfLog, MAX_FALLBACK_LINES } from '../../pod/termination-message.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';

export interface LogRequest extends Omit<ContainerLogRequest, 'stream'> {
  readonly node: string;
}

/** Older lines are rotated away. */
const MAX_LINES = 10_000;
const LINES_PER_CHUNK = 500;
/** How often a followed log checks whether the container has ended. */
const FOLLOW_POLL_MS = 1_000;

export interface LogSource {
  readonly clock: Clock;
  readonly life: PodLife;
  readonly run: SimulatedRun;
}

/** Finds the container, or throws the error of a kubelet that has no log of it. */
export function logRun(life: PodLife, { container, pod, previous }: LogRequest): SimulatedRun {
  const run = life.runs.find(({ name }) => name === container);
  if (!run) throw badRequest(`container "${container}" in pod "${pod}" is not available`);
  const { state, last } = run;
  if (previous) {
    if (!last?.id) throw badRequest(`previous terminated container "${container}" in pod "${pod}" not found`);
    return run;
  }
  if (state.type === 'ended' && !state.id) throw badRequest(`container "${container}" in pod "${pod}" is terminated`);
  if (state.type !== 'waiting' || last) return run;
  const why =
    state.reason === 'ErrImagePull'
      ? "image can't be pulled"
      : state.reason === 'ImagePullBackOff'
        ? 'trying and failing to pull image'
        : state.reason;
  throw badRequest(`container "${container}" in pod "${pod}" is waiting to start: ${why}`);
}

/** Yields the lines in chunks. A followed log ends with its container. */
export async function* logLines(source: LogSource, request: LogRequest): AsyncGenerator<Buffer> {
  const { clock, life, run } = source;
  const { every } = life.stages.logs;
  const { limitBytes = Number.POSITIVE_INFINITY, signal, since = 0 } = request;
  const { start, id } = runPeriod(run, request.previous);
  const endNow = () => endOf(run, id);
  let left = limitBytes;
  const count = (until: number) => Math.floor((until - start) / every) + 1;
  let next = Math.max(0, Math.ceil((since - start) / every), count(endNow() ?? clock.now()) - MAX_LINES);
  if (request.tailLines !== undefined) next = Math.max(next, count(endNow() ?? clock.now()) - request.tailLines);
  for (;;) {
    const end = endNow();
    const total = count(end ?? clock.now());
    while (next < total && left > 0) {
      const chunk = Buffer.from(linesOf({ life, run, start }, request, next, Math.min(total, next + LINES_PER_CHUNK)));
      next = Math.min(total, next + LINES_PER_CHUNK);
      yield chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= chunk.length;
    }
    if (!request.follow || end !== undefined || left <= 0 || signal?.aborted) return;
    const wait = Math.min(FOLLOW_POLL_MS, start + next * every - clock.now());
    await sleep(clock, Math.max(1, wait), signal).catch(() => undefined);
    if (signal?.aborted) return;
  }
}

/**
 * Returns the end of the log, as the message of a container that failed without one and asks for FallbackToLogsOnError.
 */
export function messageFromLog(life: PodLife, run: SimulatedRun, now: number): string | undefined {
  const { terminationMessagePolicy } = containerOf(life.pod, run);
  if (run.state.type !== 'running' || terminationMessagePolicy !== 'FallbackToLogsOnError') return undefined;
  const { since: start } = run.state;
  const total = Math.floor((now - start) / life.stages.logs.every) + 1;
  const { nodeName: node = '' } = life.pod.spec;
  const from = Math.max(0, total - MAX_FALLBACK_LINES);
  return endOfLog(linesOf({ life, run, start }, { timestamps: false, node }, from, total));
}

interface RunPeriod {
  readonly start: number;
  readonly id: string;
}

/** Returns the run to read: the current one, or the last that has ended. */
function runPeriod({ state, last }: SimulatedRun, previous: boolean): RunPeriod {
  if (!previous && state.type === 'running') return { start: state.since, id: state.id };
  const ended: Termination | undefined = !previous && state.type === 'ended' && state.id ? state : last;
  if (!ended) throw new ApiError('InternalError', 'the container has never run');
  return { start: ended.startedAt ?? ended.finishedAt, id: ended.id };
}

/** Returns undefined while that run continues. */
function endOf({ state, last }: SimulatedRun, id: string): number | undefined {
  if (state.type === 'running' && state.id === id) return undefined;
  if (state.type === 'ended' && state.id === id) return state.finishedAt;
  return last?.finishedAt ?? 0;
}

function linesOf(
  { life, run, start }: { life: PodLife; run: SimulatedRun; start: number },
  { timestamps, node }: Pick<LogRequest, 'timestamps' | 'node'>,
  from: number,
  to: number,
): string {
  const { every, lines } = life.stages.logs;
  const { name = '', namespace = '' } = life.pod.metadata;
  let out = '';
  for (let n = from; n < to; n++) {
    const known: Record<string, string> = { n: String(n + 1), container: run.name, pod: name, namespace, node };
    const text = lines[n % lines.length]!.replace(/\{(\w+)\}/g, (whole, word: string) => known[word] ?? whole);
    out += timestamps ? `${nanoTime(start + n * every)} ${text}\n` : `${text}\n`;
  }
  return out;
}

const nanoTime = (time: number) => new Date(time).toISOString().replace('Z', '000000Z');
