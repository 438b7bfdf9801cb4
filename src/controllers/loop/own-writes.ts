import { setMaxListeners } from 'node:events';
import type { KindRef } from '../../api/object-types.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Informer } from '../../client/informer/informer.ts';
import type { Lister } from '../../client/informer/object-cache.ts';
import type { Write } from './perform.ts';
import type { Named } from './plan.ts';

/** Timeout for a cache to show a write. A cache with a selector may never show it. */
const VISIBILITY_TIMEOUT_MS = 30_000;

/** The writes for one key: the newest version of each kind, and deletions. */
interface Pending {
  readonly versions: Map<KindRef, number>;
  readonly deletions: Map<KindRef, Named[]>;
}

/**
 * The writes of a controller that its caches do not show yet. A plan that did not see them would do everything twice.
 */
export class OwnWrites {
  readonly #pending = new Map<string, Pending>();

  constructor(
    readonly informerOf: (kind: KindRef) => Informer<any> | undefined,
    readonly clock: Clock,
  ) {}

  add(key: string, write: Write): void {
    // Plans do not depend on kinds without an informer, so that their writes are not waited for.
    if (!this.informerOf(write.kind)) return;
    const pending = this.#pending.get(key) ?? { versions: new Map(), deletions: new Map() };
    this.#pending.set(key, pending);
    const { kind } = write;
    if (write.type === 'version') {
      const { versions } = pending;
      versions.set(kind, Math.max(Number(write.resourceVersion), versions.get(kind) ?? 0));
    } else {
      const deletions = pending.deletions.get(kind);
      if (deletions) deletions.push(write.object);
      else pending.deletions.set(kind, [write.object]);
    }
  }

  /** Resolves with true when the caches show all writes for the key, with false after a timeout. */
  async seen(key: string, signal: AbortSignal): Promise<boolean> {
    const pending = this.#pending.get(key);
    if (!pending) return true;
    this.#pending.delete(key);
    const changes = this.#waitsOf(pending);
    if (changes.length === 0) return true;
    const timeout = new AbortController();
    setMaxListeners(0, timeout.signal);
    const onAbort = () => timeout.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const late = sleep(this.clock, VISIBILITY_TIMEOUT_MS, timeout.signal).then(
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

  /** Returns waits for the writes that are not visible yet. */
  #waitsOf({ versions, deletions }: Pending): ((signal: AbortSignal) => Promise<void>)[] {
    const out: ((signal: AbortSignal) => Promise<void>)[] = [];
    for (const [kind, version] of versions) {
      const informer = this.informerOf(kind);
      if (informer && !informer.shows(version)) out.push((signal) => informer.waitFor(version, signal));
    }
    for (const [kind, objects] of deletions) {
      const informer = this.informerOf(kind);
      const areGone = (lister: Lister<any>) => {
        while (objects.length > 0 && isGone(objects.at(-1) as Named, lister)) objects.pop();
        return objects.length === 0;
      };
      if (informer && !areGone(informer.lister)) out.push((signal) => informer.until(areGone, signal));
    }
    return out;
  }
}

function isGone({ metadata }: Named, lister: Lister<any>): boolean {
  const known = lister.get(metadata.name ?? '', metadata.namespace);
  return !known || known.metadata.uid !== metadata.uid || known.metadata.deletionTimestamp !== undefined;
}
