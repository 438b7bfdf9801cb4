/**
 * Follows a kind on the server: a list, then a watch from the list's version. After a disconnect the watch resumes from the
 * last version without a list; it lists again only when the server has lost that history. It never polls.
 */

import { ApiError, isApiError } from '../../api/errors.ts';
import { Backoff } from '../../base/time/backoff.ts';
import { sleep } from '../../base/time/clock.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ClientTools } from '../client.ts';
import type { WatchOptions } from '../request-options.ts';
import type { ListAllOptions, ObjectList } from '../resource.ts';
import { wasNeverSent } from '../status-error.ts';
import type { Watch, WatchEvent } from '../watch.ts';

/** A resource of the client, with its selectors applied. */
export interface Source<T> {
  listAll(options: Pick<ListAllOptions<T>, 'signal' | 'onPage'>): Promise<ObjectList<T>>;
  watch(options: WatchOptions): Promise<Pick<Watch<T>, 'batches'>>;
}

/** Receives lists and events, in the order of the server. */
export interface Sink<T> {
  /** A list is about to be requested: it will show all writes made before. */
  listing(): void;
  replace(list: ObjectList<T>): void | Promise<void>;
  /** Events that arrived together. */
  apply(events: readonly WatchEvent<T>[]): void | Promise<void>;
}

export interface ReflectorOptions extends Omit<ClientTools, 'client'> {
  /** Limits the duration of watches, in seconds, so that a dead network connection is noticed. */
  readonly watchSeconds?: number;
  readonly signal: AbortSignal;
}

const BACKOFF_MS = { base: 500, max: 30_000 };

/** The longest delay while no server is reached: attempts are no work for one, and it may have started again. */
const MAX_UNREACHED_MS = 5_000;

/** A watch that lasted this long was healthy, even without events. */
const HEALTHY_WATCH_MS = 1000;

/** Runs until the signal is aborted. */
export async function reflect<T extends KubeObject>(
  source: Source<T>,
  sink: Sink<T>,
  options: ReflectorOptions,
): Promise<void> {
  const { clock, random, log, signal, watchSeconds } = options;
  const backoff = new Backoff(BACKOFF_MS, random);
  let version: string | undefined;
  /** Tracks progress since the last list; without any, the next attempt backs off. */
  let progress = true;

  async function list(): Promise<string> {
    sink.listing();
    const all = await source.listAll({ signal });
    signal.throwIfAborted();
    await sink.replace(all);
    return all.metadata.resourceVersion;
  }

  async function follow(): Promise<void> {
    const watch = await source.watch({
      resourceVersion: version ?? '',
      allowWatchBookmarks: true,
      signal,
      timeoutSeconds: watchSeconds ? watchSeconds + random.int(watchSeconds) : undefined,
    });
    const begun = clock.now();
    const wentWell = () => {
      progress = true;
      backoff.reset();
    };
    try {
      for await (const batch of watch.batches()) {
        signal.throwIfAborted();
        await sink.apply(batch);
        version = resumeFrom(batch) ?? version;
        wentWell();
      }
    } finally {
      if (clock.now() - begun >= HEALTHY_WATCH_MS) wentWell();
    }
    if (!progress) throw new ApiError('ServiceUnavailable', 'the watch ended at once');
    progress = false;
  }

  while (!signal.aborted) {
    try {
      version ??= await list();
      await follow();
    } catch (error) {
      if (signal.aborted) return;
      if (isLost(error)) {
        log.info('the watch cannot be resumed, listing again', { reason: (error as Error).message });
        version = undefined;
        if (progress) {
          progress = false;
          continue;
        }
      }
      const delay = Math.min(backoff.next(), wasNeverSent(error) ? MAX_UNREACHED_MS : BACKOFF_MS.max);
      log.warn('cannot list or watch', { error: String(error), retryInMs: Math.round(delay) });
      await sleep(clock, delay, signal).catch(() => undefined);
    }
  }
}

/**
 * Returns the version from which a watch misses nothing after the batch: that before the last event, since several
 * changes can share a version. A bookmark is complete.
 */
function resumeFrom(batch: readonly WatchEvent<KubeObject>[]): string | undefined {
  const last = batch.at(-1);
  const version = last?.object.metadata.resourceVersion;
  if (!last || !version) return undefined;
  if (last.type === 'BOOKMARK') return version;
  const before = Number(version) - 1;
  return before > 0 ? String(before) : version;
}

/** Reports whether the server cannot resume from our version, because it was compacted or never existed. */
function isLost(error: unknown): boolean {
  if (isApiError(error, 'Expired', 'Gone')) return true;
  const causes = isApiError(error) ? error.details?.causes : undefined;
  return causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') ?? false;
}
