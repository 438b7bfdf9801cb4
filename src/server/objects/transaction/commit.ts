import { ShortLivedMap } from '../../../base/collections/short-lived-map.ts';
import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import type { Condition, Origin, Store, Write } from '../../../store/store.ts';
import type { Cache, Written } from '../cache/cache.ts';
import { checkMarker } from '../cache/definitions/markers.ts';
import { type Encoded, encodeChange } from '../cache/entry/encoding.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { ApiRequest } from '../registry/registry.ts';
import type { ObjectDraft } from './draft.ts';
import { checkSize } from './object-size.ts';
import { originOf } from './origin.ts';

interface CommitOptions {
  /** Rows that must be at the given revisions; otherwise nothing is written. */
  readonly conditions?: readonly Condition[] | undefined;
  /** A row that is not an object, written with the drafts. */
  readonly marker?: Write | undefined;
}

/** Minimum size of an object after whose encoding other work may run: checking and writing it take long, too. */
const MIN_PAUSED_BYTES = 256 * 1024;

function encodedDraft({ object, current, shared, request }: ObjectDraft): Encoded {
  const { kind } = request.resource;
  return encodeChange(object, current ? current.before(kind) : shared, kind.rawFields);
}

/** The first draft is that of the request; others accompany it. */
function originOfDrafts([first]: readonly ObjectDraft[]): Origin | undefined {
  if (!first) return undefined;
  const { mutation, request } = first;
  return originOf(request.call, mutation.type === 'update' && mutation.part === 'status');
}

/** The only writer of objects: converts drafts to rows and commits them to the store. */
export class Commits {
  /** Commits of this process in progress, by key. They never reject. */
  readonly #inFlight = new ShortLivedMap<string, Promise<void>>();

  constructor(
    private readonly store: Pick<Store, 'commit'>,
    private readonly cache: Cache,
    private readonly stages: Pick<TurnBudget, 'pause'>,
  ) {}

  /**
   * Resolves when this process has no commit to the key in progress; undefined when there is none. The next writer then
   * starts from the result of the last one instead of conflicting with it.
   */
  idle(key: string): Promise<void> | undefined {
    return this.#inFlight.get(key)?.then(() => this.idle(key));
  }

  /**
   * Writes all drafts in one commit, or none. Resolves with the entries of the drafts, in order, when they are durable
   * and visible to every reader. Rejects with the store's errors, including StoreConflict.
   */
  async commit(
    drafts: readonly ObjectDraft[],
    { conditions, marker }: CommitOptions = {},
  ): Promise<(Entry | undefined)[]> {
    const writes: Write[] = [];
    const written: (Written | undefined)[] = [];
    const addresses: (Written | undefined)[] = [];
    try {
      for (const draft of drafts) {
        const encoded = draft.isRemoval ? undefined : encodedDraft(draft);
        const pause = encoded && encoded.bytes.length > MIN_PAUSED_BYTES ? this.stages.pause() : undefined;
        if (pause) await pause;
        written.push(this.#add(draft, encoded, writes));
        for (const address of draft.addresses) {
          addresses.push(this.#add(address, encodedDraft(address), writes));
        }
      }
      if (marker) {
        checkMarker(marker);
        writes.push(marker);
      }
      const committed = this.store.commit(writes, conditions, originOfDrafts(drafts));
      this.#track(drafts, committed);
      const revision = await committed;
      const reached = this.cache.reached(revision);
      if (reached) await reached;
      return written.map((each) => each && this.#entryOf(each, revision));
    } finally {
      for (const each of written) if (each) this.cache.forget(each);
      for (const each of addresses) if (each) this.cache.forget(each);
    }
  }

  /**
   * Removes an object whose stored bytes cannot be read, for the sender of a request. Resolves when every reader sees it;
   * rejects like commit().
   */
  async removeUnreadable({ at, revision }: Entry, { call }: Pick<ApiRequest, 'call'>): Promise<void> {
    const write = { key: at.key, value: null, expect: revision, evenIfDamaged: true };
    const committed = this.store.commit([write], undefined, originOf(call));
    this.#track([{ at }], committed);
    await this.cache.reached(await committed);
  }

  /** Overwrites a row that is not an object while another row has its revision. Resolves with the revision of the row. */
  mark(key: string, value: Buffer, condition: Condition): Promise<number> {
    return this.store.commit([{ key, value }], [condition]);
  }

  #add(draft: ObjectDraft, encoded: Encoded | undefined, writes: Write[]): Written | undefined {
    const { at, object, current, request, allocated } = draft;
    const expect = current?.revision ?? 0;
    let written: Written | undefined;
    if (!encoded) writes.push({ key: at.key, value: null, expect });
    else {
      const { kind } = request.resource;
      checkSize(encoded.bytes, current?.stored);
      written = { at, kind, object, encoded };
      const mark = this.cache.announce(written);
      writes.push({ key: at.key, value: encoded.bytes, expect, replaces: current?.stored });
      // Objects of one kind have one mark, and a commit accepts each key only once.
      if (mark && !writes.some(({ key }) => key === mark.key)) writes.push(mark);
    }
    for (const write of allocated) writes.push(write);
    return written;
  }

  #track(drafts: readonly Pick<ObjectDraft, 'at'>[], commit: Promise<unknown>): void {
    const done = () => {
      for (const { at } of drafts) if (this.#inFlight.get(at.key) === settled) this.#inFlight.delete(at.key);
    };
    const settled: Promise<void> = commit.then(done, done);
    for (const { at } of drafts) this.#inFlight.set(at.key, settled);
  }

  #entryOf({ at, encoded }: Written, revision: number): Entry {
    const cached = this.cache.entry(at.key);
    return cached?.revision === revision ? cached : this.cache.entryOf(at, revision, encoded.bytes);
  }
}
