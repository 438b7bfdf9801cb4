/** A connection to one server of several, with what runs over it. */
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Answer, RawEvent, Request, WatchStream } from '../transport.ts';
import type { HttpsTransport } from './https-transport.ts';

export type ServerTransport = Pick<HttpsTransport, 'call' | 'watch' | 'ready' | 'renew' | 'close'>;

export class UsedServer {
  readonly #watches = new Set<WatchStream>();
  /** Requests that wait for an answer. */
  #waiting = 0;
  #isRetired = false;

  constructor(
    readonly server: string,
    readonly transport: ServerTransport,
  ) {}

  call(request: Request): Promise<Answer> {
    return this.#counted(this.transport.call(request));
  }

  /** `onBroken` is called when the connection of the watch breaks; when it resolves with true, the watch just ends. */
  async watch(request: Request, onBroken: (error: unknown) => Promise<boolean>): Promise<WatchStream> {
    const stream = await this.#counted(this.transport.watch(request));
    const watches = this.#watches;
    watches.add(stream);
    if (this.#isRetired) stream.close();
    async function* batches(): AsyncGenerator<readonly RawEvent[]> {
      try {
        yield* stream;
      } catch (error) {
        if (!(await onBroken(error))) throw error;
      } finally {
        watches.delete(stream);
      }
    }
    return {
      [Symbol.asyncIterator]: batches,
      close() {
        watches.delete(stream);
        stream.close();
      },
    };
  }

  /** Ends its watches, as a server does, so that they are resumed at another one; calls break off. */
  close(): void {
    this.#endWatches();
    this.transport.close();
  }

  /** Ends its watches, and closes the connection after the last call. */
  retire(): void {
    this.#isRetired = true;
    this.#endWatches();
    if (this.#waiting === 0) this.transport.close();
  }

  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await work;
    } finally {
      this.#waiting -= 1;
      if (this.#isRetired && this.#waiting === 0) this.transport.close();
    }
  }

  #endWatches(): void {
    for (const each of this.#watches) each.close();
    this.#watches.clear();
  }
}

/** Time that better servers have after the first one is ready. */
const GRACE_MS = 200;

/** Resolves with the first of the candidates that is ready, in their order, but waits for no slow one; undefined: none is ready. */
export function bestReady(
  candidates: readonly UsedServer[],
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<UsedServer | undefined> {
  return new Promise((resolve) => {
    const waiting = new Set(candidates);
    const ready = new Set<UsedServer>();
    let grace: Timer | undefined;
    const settle = () => {
      grace?.cancel();
      resolve(candidates.find((each) => ready.has(each)));
    };
    const look = () => {
      const best = candidates.find((each) => ready.has(each) || waiting.has(each));
      if (best === undefined || ready.has(best)) settle();
      else if (ready.size > 0) grace ??= clock.timer(GRACE_MS, settle);
    };
    for (const each of candidates) {
      const settled = (isReady: boolean) => {
        waiting.delete(each);
        if (isReady) ready.add(each);
        look();
      };
      each.transport.ready(timeoutMs).then(
        () => settled(true),
        () => settled(false),
      );
    }
    look();
  });
}
