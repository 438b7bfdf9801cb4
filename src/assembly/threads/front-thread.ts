/** Starts the worker thread that owns the sockets, so that TLS and HTTP run on a processor of their own. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { remoteListeners } from '../../server/serving/http/front/remote-listeners.ts';
import type { Listeners, ListenersOptions } from '../../server/serving/http/listen/listeners.ts';
import type { Cleanup } from '../cleanup.ts';

/** Defined by the build; absent when the sources run directly. */
declare const FRONT_NAME: string | undefined;

/**
 * Starts the thread, which loads while the rest of the program does, and returns what opens listeners in it. Undefined when
 * one thread does everything, as on a machine with one processor. An uncaught error in the thread ends the program.
 */
export function startFront(cleanup: Cleanup): ((options: ListenersOptions) => Listeners) | undefined {
  if (typeof FRONT_NAME === 'undefined' || availableParallelism() < 2) return undefined;
  const worker = new Worker(join(__dirname, FRONT_NAME));
  cleanup.add(async () => {
    await worker.terminate();
  });
  return (options) => remoteListeners(worker, options);
}
