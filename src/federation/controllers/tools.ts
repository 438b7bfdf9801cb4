import type { ClientTools } from '../../client/client.ts';
import type { InformerFactory } from '../../client/informer/informer-factory.ts';

/** Tools of the controllers of a federation. The client and the informers are those of the federation. */
export interface FederationTools extends ClientTools {
  readonly informers: InformerFactory;
  readonly signal: AbortSignal;
}

interface TimeLimit {
  readonly ms: number;
  /** The reason for which work that takes longer is given up. */
  readonly late: Error;
}

/** Rejects with `late` when the work takes longer. */
export async function inTime<T>(
  { clock, signal }: Pick<FederationTools, 'clock' | 'signal'>,
  { ms, late }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = clock.timer(ms, () => limit.abort(late));
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    throw limit.signal.aborted ? late : error;
  } finally {
    timer.cancel();
  }
}
