import { type Logger, silent } from '../../../base/log.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Marks } from './own-image.ts';
import { RecentBytes } from './recent-bytes.ts';
import type { SharedObjects } from './shared-objects.ts';
import type { UnreadableObject } from './unreadable.ts';

/** Of objects as they were served, beside the stored bytes. */
const MAX_RECENT_BYTES = 8 * 1024 * 1024;

/** Where the bytes of an entry come from: how far they can be trusted, and what else all entries from there share. */
export interface Origin {
  /** Whether bytes written at this revision were written with this very definition: then they are served as they are. */
  isCurrent(kind: Kind, revision: number): boolean;
  /** See `Marks`. */
  readonly shared?: SharedObjects | undefined;
  /** Whether objects are frozen, so that a test finds the code that changes one. */
  readonly frozen: boolean;
  /** Keeps the bytes that were made to serve objects. */
  readonly recent: RecentBytes;
  /** Called whenever the object is asked for and cannot be read. */
  failed(error: UnreadableObject, entry: object): void;
}

export interface OriginOptions {
  readonly frozen: boolean;
  readonly log?: Logger;
  readonly marks?: Marks | undefined;
}

/** The origins of one cache's entries. */
export class Origins {
  /** What was found in the store, by any writer. */
  readonly stored: Origin;
  readonly #own = new WeakMap<Kind, Origin>();

  constructor({ frozen, log = silent, marks }: OriginOptions) {
    const reported = new WeakSet<object>();
    this.stored = {
      frozen,
      shared: marks?.shared,
      recent: new RecentBytes(MAX_RECENT_BYTES),
      isCurrent: (kind, revision) => marks?.isCurrent(kind, revision) ?? false,
      failed(error, entry) {
        if (reported.has(entry)) return;
        reported.add(entry);
        log.error('a stored object cannot be read', { key: error.at.key, error: error.message });
      },
    };
  }

  /** What this process wrote with a definition of a kind. */
  own(kind: Kind): Origin {
    let origin = this.#own.get(kind);
    if (!origin) {
      origin = { ...this.stored, isCurrent: (asked) => asked === kind, shared: undefined };
      this.#own.set(kind, origin);
    }
    return origin;
  }
}
