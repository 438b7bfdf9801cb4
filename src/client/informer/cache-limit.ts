/**
 * Limits the total size of the informer caches of an untrusted server. An informer that would exceed the limit fails to
 * read, and lists again with backoff until everything fits.
 */
import { ApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { memoryOf } from '../../base/json/memory.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Informer } from './informer.ts';
import { keyOf } from './object-cache.ts';
import type { Source } from './reflector.ts';

/** The memory that one informer uses. */
interface Account {
  readonly bytesByKey: Map<string, number>;
  keptBytes: number;
  /** Size of the list that is being read, or has not been applied yet. */
  listedBytes: number;
  isRejected: boolean;
}

/** Overhead of the keys and of the maps that hold the object. */
const OVERHEAD_BYTES = 256;

export class CacheLimit {
  readonly #accounts = new Set<Account>();
  #wasExceeded = false;

  constructor(private readonly maxBytes: number) {}

  /** Reports whether an informer cannot read because of the limit, or could not at some time since the last call. */
  takeExceeded(): boolean {
    const isExceeded = this.#wasExceeded || [...this.#accounts].some(({ isRejected }) => isRejected);
    this.#wasExceeded = false;
    return isExceeded;
  }

  /** Wraps the source of an informer until the signal is aborted. */
  follow<T extends KubeObject>(
    informer: Pick<Informer<T>, 'onChange'>,
    source: Source<T>,
    signal: AbortSignal,
  ): Source<T> {
    const account: Account = { bytesByKey: new Map(), keptBytes: 0, listedBytes: 0, isRejected: false };
    this.#accounts.add(account);
    signal.addEventListener('abort', () => this.#accounts.delete(account), { once: true });
    informer.onChange(({ type, object }) => keep(account, keyOf(object), type === 'delete' ? 0 : sizeOf(object)));
    return {
      listAll: (options) => this.#list(account, source, options),
      watch: async (options) => {
        account.listedBytes = 0;
        this.#checkWatch(account);
        const watch = await source.watch(options);
        return { batches: () => this.#batches(account, watch.batches()) };
      },
    };
  }

  async #list<T>(account: Account, source: Source<T>, options: Parameters<Source<T>['listAll']>[0]) {
    account.listedBytes = 0;
    this.#checkList(account);
    try {
      const list = await source.listAll({
        ...options,
        onPage: (items, isFirst) => {
          if (isFirst) account.listedBytes = 0;
          for (const item of items) account.listedBytes += sizeOf(item);
          this.#checkList(account);
        },
      });
      account.isRejected = false;
      return list;
    } catch (error) {
      account.listedBytes = 0;
      throw error;
    }
  }

  async *#batches<B>(account: Account, batches: AsyncIterable<B>): AsyncGenerator<B, void, undefined> {
    for await (const batch of batches) {
      yield batch;
      this.#checkWatch(account);
    }
  }

  /** A list replaces the objects that the informer keeps, so those do not count. */
  #checkList(account: Account): void {
    const others = [...this.#accounts].filter((each) => each !== account);
    if (total(others) + account.listedBytes > this.maxBytes) throw this.#rejection(account, 'RequestEntityTooLarge');
  }

  /** Events after a dropped one cannot be applied: the informer must list again. */
  #checkWatch(account: Account): void {
    if (total(this.#accounts) > this.maxBytes) throw this.#rejection(account, 'Expired');
  }

  #rejection(account: Account, reason: 'RequestEntityTooLarge' | 'Expired'): ApiError {
    account.isRejected = true;
    this.#wasExceeded = true;
    return new ApiError(reason, this.message);
  }

  get message(): string {
    return `the objects of the cluster take more than ${Math.round(this.maxBytes / 1024 / 1024)} MiB of memory`;
  }
}

function sizeOf(object: DeepReadonly<unknown>): number {
  return OVERHEAD_BYTES + memoryOf(object);
}

function keep(account: Account, key: string, bytes: number): void {
  account.keptBytes += bytes - (account.bytesByKey.get(key) ?? 0);
  if (bytes > 0) account.bytesByKey.set(key, bytes);
  else account.bytesByKey.delete(key);
}

/** An applied list replaces the objects kept before. */
function total(accounts: Iterable<Account>): number {
  let sum = 0;
  for (const { keptBytes, listedBytes } of accounts) sum += Math.max(keptBytes, listedBytes);
  return sum;
}
