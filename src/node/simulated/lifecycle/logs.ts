/**
 * Made-up logs. Nothing is kept: every line follows from when its container started, so that a log of weeks costs nothing
 * and any end of it can be read at once.
 */
import { type Clock, sleep } from '../../../base/clock.ts';
import { ApiError, badRequest } from '../../../base/errors.ts';
import type { Ended } from '../../pod/container-run.ts';
import { containerOf } from '../../pod/phase.ts';
import { endOfLog, FALLBACK_LINES } from '../../pod/termination-message.ts';
import type { Life, SimulatedRun } from './life.ts';

/** Which lines of which container. */
export interface LogRequest {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly follow: boolean;
  /** Of the container that ran before this one. */
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Older lines were thrown away, as an agent does it. */
const KEPT = 10_000;
/** Lines in one piece. */
const PIECE = 500;
/** How often somebody who follows looks whether the container has ended, in milliseconds. */
const LOOK = 1_000;

export interface LogSource {
  readonly clock: Clock;
  readonly life: Life;
  readonly run: SimulatedRun;
}

/** Finds the container, or says why it has no log, in the words of an agent. */
export function logRun(life: Life, { container, pod, previous }: LogRequest): SimulatedRun {
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

/** The lines in pieces. Ends with the container when it is followed, else at once. */
export async function* logLines(source: LogSource, request: LogRequest): AsyncGenerator<Buffer> {
  const { clock, life, run } = source;
  const { every } = life.stages.logs;
  const { limitBytes = Number.POSITIVE_INFINITY, signal, since = 0 } = request;
  const { start, id } = stretchOf(run, request.previous);
  const endNow = () => endOf(run, id);
  let left = limitBytes;
  const count = (until: number) => Math.floor((until - start) / every) + 1;
  let next = Math.max(0, Math.ceil((since - start) / every), count(endNow() ?? clock.now()) - KEPT);
  if (request.tailLines !== undefined) next = Math.max(next, count(endNow() ?? clock.now()) - request.tailLines);
  for (;;) {
    const end = endNow();
    const total = count(end ?? clock.now());
    while (next < total && left > 0) {
      const piece = Buffer.from(linesOf({ life, run, start }, request, next, Math.min(total, next + PIECE)));
      next = Math.min(total, next + PIECE);
      yield piece.length > left ? piece.subarray(0, left) : piece;
      left -= piece.length;
    }
    if (!request.follow || end !== undefined || left <= 0 || signal?.aborted) return;
    const wait = Math.min(LOOK, start + next * every - clock.now());
    await sleep(clock, Math.max(1, wait), signal).catch(() => undefined);
    if (signal?.aborted) return;
  }
}

/** What stands for the message of a container that failed without one, where it asks for that: the end of its log. */
export function messageFromLog(life: Life, run: SimulatedRun, now: number): string | undefined {
  const { terminationMessagePolicy } = containerOf(life.pod, run);
  if (run.state.type !== 'running' || terminationMessagePolicy !== 'FallbackToLogsOnError') return undefined;
  const { since: start } = run.state;
  const total = Math.floor((now - start) / life.stages.logs.every) + 1;
  const { nodeName: node = '' } = life.pod.spec;
  const from = Math.max(0, total - FALLBACK_LINES);
  return endOfLog(linesOf({ life, run, start }, { timestamps: false, node }, from, total));
}

interface Stretch {
  readonly start: number;
  readonly id: string;
}

/** The run that is meant: the one that goes on, or the last that has ended. */
function stretchOf({ state, last }: SimulatedRun, previous: boolean): Stretch {
  if (!previous && state.type === 'running') return { start: state.since, id: state.id };
  const ended: Ended | undefined = !previous && state.type === 'ended' && state.id ? state : last;
  if (!ended) throw new ApiError('InternalError', 'the container has never run');
  return { start: ended.startedAt ?? ended.finishedAt, id: ended.id };
}

/** Undefined as long as that run goes on. */
function endOf({ state, last }: SimulatedRun, id: string): number | undefined {
  if (state.type === 'running' && state.id === id) return undefined;
  if (state.type === 'ended' && state.id === id) return state.finishedAt;
  return last?.finishedAt ?? 0;
}

function linesOf(
  { life, run, start }: { life: Life; run: SimulatedRun; start: number },
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
