import { setMaxListeners } from 'node:events';
import { type Clock, sleep } from '../base/clock.ts';
import type { Informer } from '../client/informer.ts';
import type { KindRef } from '../client/object-types.ts';
import type { Write } from './perform.ts';

/** How long to wait for a write to come back, in milliseconds. A cache behind a selector may never show it. */
const PATIENCE = 30_000;

/**
 * What a controller wrote for each key and its caches have not shown yet. A plan that does not see the controller's own
 * writes would do everything twice.
 */
export class OwnWrites {
  readonly #pending = new Map<string, Write[]>();

  constructor(
    readonly informerOf: (kind: KindRef) => Informer<any> | undefined,
    readonly clock: Clock,
  ) {}

  add(key: string, write: Write): void {
    const writes = this.#pending.get(key);
    if (writes) writes.push(write);
    else this.#pending.set(key, [write]);
  }

  /** Resolves with true when the caches show all writes for the key, with false when that took too long. */
  async seen(key: string, signal: AbortSignal): Promise<boolean> {
    const writes = this.#pending.get(key);
    if (!writes) return true;
    this.#pending.delete(key);
    const patience = new AbortController();
    setMaxListeners(0, patience.signal);
    const onAbort = () => patience.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const late = sleep(this.clock, PATIENCE, patience.signal).then(
      () => false,
      () => false,
    );
    try {
      const all = Promise.all(writes.map((write) => this.#shown(write, patience.signal))).then(
        () => true,
        () => false,
      );
      return await Promise.race([all, late]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      patience.abort();
    }
  }

  #shown(write: Write, signal: AbortSignal): Promise<void> {
    const informer = this.informerOf(write.kind);
    // Nobody decides by a kind that is not followed.
    if (!informer) return Promise.resolve();
    if (write.type === 'version') return informer.waitFor(write.resourceVersion, signal);
    const { name = '', namespace, uid } = write.object.metadata;
    return informer.until((lister) => {
      const known = lister.get(name, namespace);
      return !known || known.metadata.uid !== uid || known.metadata.deletionTimestamp !== undefined;
    }, signal);
  }
}
