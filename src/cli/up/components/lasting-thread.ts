/** A worker thread that is started again should it end. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { Backoff } from '../../../base/time/backoff.ts';
import type { Clock } from '../../../base/time/clock.ts';

interface ThreadOptions<T> {
  /** The file of the bundle. */
  readonly file: string;
  readonly maxHeapMb: number;
  /** What the thread has as `workerData`. */
  readonly data?: object;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Prepares a thread that has just started; it is ended when this rejects. */
  open(worker: Worker): Promise<T>;
  /** Called after a thread has replaced another one. */
  onRestart(opened: T): void;
}

export interface LastingThread<T> {
  /** What the first thread was opened as. */
  readonly opened: T;
  close(): Promise<void>;
}

const RESTART_BACKOFF_MS = { base: 100, max: 30_000 };

/** Resolves when the thread is open. Rejects when the first one could not be opened. */
export async function startThread<T>(options: ThreadOptions<T>): Promise<LastingThread<T>> {
  const { file, maxHeapMb, data, clock, random, log, open, onRestart } = options;
  const backoff = new Backoff(RESTART_BACKOFF_MS, random);
  let isClosed = false;
  let current: Worker | undefined;

  async function start(): Promise<T> {
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
    const worker = new Worker(join(__dirname, file), { resourceLimits, workerData: data });
    current = worker;
    const ended = new Promise<never>((_, reject) => {
      worker.on('error', reject);
      worker.on('exit', (code) => reject(new Error(`the thread ended with code ${code}`)));
    });
    try {
      const opened = await Promise.race([open(worker), ended]);
      ended.catch(restart);
      return opened;
    } catch (error) {
      ended.catch(() => {});
      await worker.terminate();
      throw error;
    }
  }

  function restart(error: unknown): void {
    if (isClosed) return;
    log.error('a thread ended; it is started again', { thread: file, error });
    clock.timer(backoff.next(), () => {
      if (!isClosed) start().then(onRestart, restart);
    });
  }

  return {
    opened: await start(),
    async close() {
      isClosed = true;
      await current?.terminate();
    },
  };
}
