/** Reads with pauses, so that requests are answered meanwhile. */
import { type Clock, sleep } from '../../base/time/clock.ts';

export interface Pace {
  readonly clock: Clock;
  /** Share of the thread that reading takes: 0.1 pauses nine times as long as it worked; 1 does not pause. */
  readonly share: number;
  readonly signal: AbortSignal;
}

/** Work after which it pauses. */
const STEP_MS = 0.5;
/** On a machine with little time to spare, work seems to take long because others work. */
const MAX_PAUSE_MS = 50;

export async function* paced<T>(items: AsyncIterable<T>, { clock, share, signal }: Pace): AsyncGenerator<T> {
  const now = () => clock.monotonic?.() ?? 0;
  let worked = 0;
  let began = now();
  for await (const item of items) {
    signal.throwIfAborted();
    worked += now() - began;
    if (worked >= STEP_MS && share < 1) {
      await sleep(clock, Math.min(MAX_PAUSE_MS, (worked * (1 - share)) / share), signal);
      worked = 0;
    }
    yield item;
    began = now();
  }
}
