/**
 * Wraps a store and encrypts values under some prefixes. Keys and revisions are those of the inner store. Unencrypted
 * values can still be read.
 */
import type { Random } from '../../base/random.ts';
import {
  type Change,
  type Condition,
  type ListOptions,
  type Origin,
  type Row,
  type Rows,
  type Store,
  StoreConflict,
  type Subscription,
  type Watcher,
  type Write,
} from '../store.ts';
import { Envelopes, isSealed, KeyMissing, keyIdOf, StoreSealed } from './envelope.ts';
import type { Keyring } from './keyring.ts';

export interface EncryptionOptions {
  readonly keys: Keyring;
  readonly random: Random;
  /** Prefixes of the keys whose values are encrypted. */
  readonly prefixes: readonly string[];
}

/** Rows re-encrypted in one step. */
const PAGE_ROWS = 100;

export class EncryptedStore implements Store {
  readonly #prefixes: readonly string[];
  readonly #random: Random;
  #envelopes: Envelopes;
  /**
   * Plaintext by encrypted value, for values that were encrypted here: a watcher in the same process gets the bytes
   * that were written.
   */
  readonly #plain = new WeakMap<Buffer, Buffer>();

  constructor(
    private readonly inner: Store,
    { keys, prefixes, random }: EncryptionOptions,
  ) {
    this.#random = random;
    this.#prefixes = prefixes;
    this.#envelopes = new Envelopes(keys, this.#random);
  }

  revision(): number | Promise<number> {
    return this.inner.revision();
  }

  async get(key: string): Promise<Row | undefined> {
    const row = await this.inner.get(key);
    return row && this.#openRow(row);
  }

  async list(prefix: string, options?: ListOptions): Promise<Rows> {
    const found = await this.inner.list(prefix, options);
    const rows: Row[] = [];
    for (const row of found.rows) {
      const opened = this.#openListed(row, options?.damaged);
      if (opened) rows.push(opened);
    }
    return { ...found, rows };
  }

  /**
   * Decrypts a row of a list. Without the right key, all values are unreadable, and none is damaged: this error always
   * rejects the list.
   */
  #openListed(row: Row, damaged: ListOptions['damaged']): Row | undefined {
    try {
      return this.#openRow(row);
    } catch (error) {
      if (!damaged || !(error instanceof StoreSealed) || error instanceof KeyMissing) throw error;
      damaged({ key: row.key, revision: row.revision, error });
      return undefined;
    }
  }

  commit(writes: readonly Write[], conditions?: readonly Condition[], origin?: Origin): Promise<number> {
    const concerned = writes.some(({ key, value }) => value !== null && this.#covers(key));
    return this.inner.commit(concerned ? writes.map((write) => this.#sealWrite(write)) : writes, conditions, origin);
  }

  watch(after: number, watcher: Watcher): Subscription {
    const subscription = this.inner.watch(after, {
      changes: (batch) => {
        const opened = this.#openAll(batch);
        if (!(opened instanceof Error)) return watcher.changes(opened);
        subscription.stop();
        watcher.closed(opened);
      },
      prefix: watcher.prefix,
      progress: watcher.progress && ((revision) => watcher.progress?.(revision)),
      closed: (error) => watcher.closed(error),
    });
    return subscription;
  }

  compact(revision: number): Promise<void> {
    return this.inner.compact(revision);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Replaces the keys. All keys in use by values must be among the new ones. */
  useKeys(keys: Keyring): void {
    this.#envelopes = new Envelopes(keys, this.#random);
  }

  /** Prefixes of the keys whose values are encrypted. */
  get prefixes(): readonly string[] {
    return this.#prefixes;
  }

  /** Decrypts a row of the inner store. */
  opened(row: Row): Row {
    return this.#openRow(row);
  }

  /** Encrypts the value of a row with the newest key; undefined when it is already. */
  resealed(row: Row): Buffer | undefined {
    return this.#isCurrent(row.value) ? undefined : this.#envelopes.seal(row.key, this.#openRow(row).value);
  }

  /**
   * Re-encrypts every value that is not encrypted with the newest key, and returns their number. Readers see the same
   * bytes.
   */
  async reencrypt(signal?: AbortSignal): Promise<number> {
    let written = 0;
    for (const prefix of this.#prefixes) {
      let after: string | undefined;
      for (let more = true; more && !signal?.aborted; ) {
        const page = await this.inner.list(prefix, { limit: PAGE_ROWS, after });
        const stale = page.rows.filter(({ value }) => !this.#isCurrent(value));
        const outcomes = await Promise.all(stale.map((row) => this.#rewrite(row)));
        written += outcomes.filter((done) => done).length;
        more = page.more;
        after = page.rows.at(-1)?.key;
      }
    }
    return written;
  }

  async #rewrite(row: Row): Promise<boolean> {
    const { key, value } = this.#openRow(row);
    try {
      await this.commit([{ key, value, expect: row.revision }]);
      return true;
    } catch (error) {
      // A concurrent write has encrypted it with the newest key.
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  #isCurrent(value: Buffer): boolean {
    return isSealed(value) && keyIdOf(value) === this.#envelopes.current;
  }

  #covers(key: string): boolean {
    for (const prefix of this.#prefixes) if (key.startsWith(prefix)) return true;
    return false;
  }

  #sealWrite(write: Write): Write {
    const { key, value } = write;
    if (value === null || !this.#covers(key)) return write;
    const sealed = this.#envelopes.seal(key, value);
    this.#plain.set(sealed, value);
    const { replaces: _, ...rest } = write;
    return { ...rest, value: sealed };
  }

  #openRow(row: Row): Row {
    return this.#covers(row.key) && isSealed(row.value) ? { ...row, value: this.#open(row.key, row.value) } : row;
  }

  /** Decrypts a batch. Returns an error, which ends the watch, when another server has written with an unknown key. */
  #openAll(batch: readonly Change[]): readonly Change[] | StoreSealed {
    try {
      return batch.some(({ key }) => this.#covers(key)) ? batch.map((change) => this.#openChange(change)) : batch;
    } catch (error) {
      if (error instanceof StoreSealed) return error;
      throw error;
    }
  }

  #openChange(change: Change): Change {
    const { key, value, previous } = change;
    if (!this.#covers(key)) return change;
    return {
      ...change,
      value: value && isSealed(value) ? this.#open(key, value) : value,
      previous: previous && this.#openRow(previous),
    };
  }

  #open(key: string, sealed: Buffer): Buffer {
    return this.#plain.get(sealed) ?? this.#envelopes.open(key, sealed);
  }
}
