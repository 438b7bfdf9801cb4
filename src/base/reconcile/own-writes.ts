import { setMaxListeners } from 'node:events';
import { getOrInsert } from '../collections/get-or-insert.ts';
import { type Clock, sleep } from '../time/clock.ts';

/** A cache that shows writes some time after they were made, such as an informer. */
export interface WriteCache<View = any> {
  readonly lister: View;
  shows(version: number): boolean;
  waitFor(version: number, signal: AbortSignal): Promise<void>;
  until(condition: (view: View) => boolean, signal: AbortSignal): Promise<void>;
}

/** A write: the version that it resulted in, or, as for a deletion, how to see it. */
export type OwnWrite =
  | { readonly cache: WriteCache; readonly version: number }
  | { readonly cache: WriteCache; readonly isShown: (view: any) => boolean };

/** The writes for one key: the newest version in each cache, and conditions. */
interface Pending {
  readonly versions: Map<WriteCache, number>;
  readonly conditions: Map<WriteCache, ((view: unknown) => boolean)[]>;
}

/** The writes that caches do not show yet. Work that did not see them would do everything twice. */
export class OwnWrites {
  readonly #pending = new Map<string, Pending>();

  constructor(
    readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  add(key: string, write: OwnWrite): void {
    const pending = getOrInsert(this.#pending, key, () => ({ versions: new Map(), conditions: new Map() }));
    const { cache } = write;
    if ('version' in write) {
      const { versions } = pending;
      versions.set(cache, Math.max(write.version, versions.get(cache) ?? 0));
    } else {
      getOrInsert(pending.conditions, cache, () => []).push(write.isShown);
    }
  }

  /** Resolves with true when the caches show all writes for the key, with false after a timeout. */
  async seen(key: string, signal: AbortSignal): Promise<boolean> {
    const pending = this.#pending.get(key);
    if (!pending) return true;
    this.#pending.delete(key);
    const changes = waitsOf(pending);
    if (changes.length === 0) return true;
    const timeout = new AbortController();
    setMaxListeners(0, timeout.signal);
    const onAbort = () => timeout.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const late = sleep(this.clock, this.timeoutMs, timeout.signal).then(
      () => false,
      () => false,
    );
    try {
      const all = Promise.all(changes.map((wait) => wait(timeout.signal))).then(
        () => true,
        () => false,
      );
      return await Promise.race([all, late]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      timeout.abort();
    }
  }
}

/** Returns waits for the writes that are not visible yet. */
function waitsOf({ versions, conditions }: Pending): ((signal: AbortSignal) => Promise<void>)[] {
  const out: ((signal: AbortSignal) => Promise<void>)[] = [];
  for (const [cache, version] of versions) {
    if (!cache.shows(version)) out.push((signal) => cache.waitFor(version, signal));
  }
  for (const [cache, each] of conditions) {
    const areMet = (view: unknown) => {
      while (each.length > 0 && each.at(-1)!(view)) each.pop();
      return each.length === 0;
    };
    if (!areMet(cache.lister)) out.push((signal) => cache.until(areMet, signal));
  }
  return out;
}
