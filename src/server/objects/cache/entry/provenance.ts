import { type Logger, silent } from '../../../../base/log.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import type { Marks } from './own-image.ts';
import { RecentBytes } from './recent-bytes.ts';
import type { SharedObjects } from './shared-objects.ts';
import type { UnreadableObject } from './unreadable.ts';

/** Limit for objects in their served form, in addition to the stored bytes. */
const MAX_RECENT_BYTES = 8 * 1024 * 1024;

/** The provenance of an entry's bytes: how far they can be trusted, and the data shared by all entries of that provenance. */
export interface Provenance {
  /** Reports whether bytes of this revision were written with this very definition, and can be served as they are. */
  isCurrent(kind: Kind, revision: number): boolean;
  /** Objects shared between caches; see `Marks`. */
  readonly shared?: SharedObjects | undefined;
  /** True to freeze objects, so that a test detects code that changes one. */
  readonly frozen: boolean;
  readonly recent: RecentBytes;
  /** Called whenever the object is requested and cannot be read. */
  failed(error: UnreadableObject, entry: object): void;
}

export interface ProvenanceOptions {
  readonly frozen: boolean;
  readonly log?: Logger;
  readonly marks?: Marks | undefined;
}

export class Provenances {
  /** The provenance of rows found in the store, by any writer. */
  readonly stored: Provenance;
  readonly #own = new WeakMap<Kind, Provenance>();

  constructor({ frozen, log = silent, marks }: ProvenanceOptions) {
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

  /** Returns the provenance of objects that this process wrote with a definition of a kind. */
  own(kind: Kind): Provenance {
    let provenance = this.#own.get(kind);
    if (!provenance) {
      provenance = { ...this.stored, isCurrent: (asked) => asked === kind, shared: undefined };
      this.#own.set(kind, provenance);
    }
    return provenance;
  }
}
