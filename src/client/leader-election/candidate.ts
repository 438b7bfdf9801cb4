import { isApiError } from '../../api/errors.ts';
import type { Draft } from '../../api/object-types.ts';
import type { SeenLease } from '../../api/seen-objects.ts';
import { sleep, type Timer } from '../../base/time/clock.ts';
import { microTimestamp } from '../../base/time/timestamp.ts';
import { Lease } from '../../kinds/groups/coordination/lease.ts';
import type { WatchOptions } from '../request-options.ts';
import { type LeaderElectionOptions, NO_PRECEDENCE, type Precedence, REMOTE_TIMES } from './options.ts';

/** The time for which a candidate leads. */
export interface Term {
  /** Aborted when leadership is no longer certain. */
  readonly signal: AbortSignal;
  /** The version of the lease that began the term. */
  readonly resourceVersion: string;
  /** Reports whether the lease is certainly held, also after a blocked event loop: whoever acts asks first. */
  isCertain(): boolean;
}

/** One candidate for a lease: what it has seen of the lease, and what it writes. */
export class Candidate {
  readonly #options: Required<LeaderElectionOptions> & { readonly precedence: Precedence };
  /** The last seen lease, and when it was first seen in that state. */
  #lease: SeenLease | undefined;
  #seenAt = 0;
  /** When the last renewal that succeeded was begun. */
  #renewedAt = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = { times: REMOTE_TIMES, ...options, precedence: options.precedence ?? NO_PRECEDENCE };
  }

  /** Acquires the lease if it is free or expired. Returns whether it is held now. */
  async acquire(): Promise<boolean> {
    const { log, signal, name } = this.#options;
    try {
      await this.#read();
      return this.#isFree() && (await this.#write(signal));
    } catch (error) {
      if (!signal.aborted) log.warn('cannot acquire the lease', { lease: name, error: String(error) });
      return false;
    }
  }

  async lead(lead: (term: Term) => Promise<void>): Promise<void> {
    const { signal, times, precedence } = this.#options;
    const end = new AbortController();
    const onAbort = () => end.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    const stopYielding = precedence.onChange(() => {
      if (precedence.yields()) onAbort();
    });
    const renewing = this.#renew(end);
    const { resourceVersion = '' } = this.#lease?.metadata ?? {};
    const isCertain = () => !end.signal.aborted && this.#now() < this.#renewedAt + times.renewDeadline;
    try {
      if (signal.aborted || precedence.yields()) onAbort();
      await lead({ signal: end.signal, resourceVersion, isCertain });
    } finally {
      onAbort();
      stopYielding();
      await renewing;
      signal.removeEventListener('abort', onAbort);
      await this.#release();
    }
  }

  /**
   * Resolves when no other candidate leads before this one, or the candidacy has ended. It watches the lease meanwhile, so that
   * it knows then how long ago it was renewed.
   */
  async untilFirst(): Promise<void> {
    const { clock, precedence, signal, times, log, name } = this.#options;
    if (signal.aborted || !precedence.yields()) return;
    log.info('another candidate leads before this one', { lease: name });
    const first = new AbortController();
    const stopListening = precedence.onChange(() => {
      if (!precedence.yields()) first.abort();
    });
    const either = AbortSignal.any([signal, first.signal]);
    while (!either.aborted) {
      await this.#watch({ signal: either }, () => false);
      await sleep(clock, times.retryPeriod, either).catch(() => undefined);
    }
    stopListening();
  }

  /**
   * Resolves when the lease looks free: released, deleted, or expired. Where it cannot be watched, after some time, so that
   * not all candidates try at once.
   */
  async untilFree(): Promise<void> {
    const { clock, random, times, signal } = this.#options;
    const held = this.#isFree() ? undefined : this.#lease;
    if (held && (await this.#follow(held))) return;
    const pause = times.retryPeriod * (1 + random.int(1000) / 1000);
    await sleep(clock, pause, signal).catch(() => undefined);
  }

  /** Watches the lease. Resolves with false when the watch ended before the lease was free. */
  async #follow({ metadata: { resourceVersion = '' } }: SeenLease): Promise<boolean> {
    const { clock, signal } = this.#options;
    const expired = new AbortController();
    let expiry: Timer | undefined;
    const rearm = () => {
      expiry?.cancel();
      expiry = clock.timer(Math.max(0, this.#expiresAt() - this.#now()), () => expired.abort());
    };
    rearm();
    const either = AbortSignal.any([signal, expired.signal]);
    const isFree = await this.#watch({ resourceVersion, signal: either }, () => {
      if (this.#isFree()) return true;
      rearm();
      return false;
    });
    expiry?.cancel();
    return isFree || expired.signal.aborted;
  }

  /** Observes each change of the lease until `seen` returns true. Resolves with false when the watch ended before. */
  async #watch(options: WatchOptions & { readonly signal: AbortSignal }, seen: () => boolean): Promise<boolean> {
    const { name, log } = this.#options;
    try {
      const watch = await this.#leases.watch({ fieldSelector: `metadata.name=${name}`, ...options });
      for await (const { type, object } of watch) {
        if (type === 'BOOKMARK' || object.metadata.name !== name) continue;
        if (type === 'DELETED') this.#lease = undefined;
        else this.#observe(object);
        if (seen()) return true;
      }
    } catch (error) {
      if (!options.signal.aborted) log.debug('the watch of the lease has ended', { lease: name, error: String(error) });
    }
    return false;
  }

  /** Renews the lease until the term ends: another candidate holds the lease, or the renewal is late. */
  async #renew(term: AbortController): Promise<void> {
    const { clock, times } = this.#options;
    let deadline: Timer | undefined;
    const extend = () => {
      deadline?.cancel();
      deadline = clock.timer(this.#renewedAt + times.renewDeadline - this.#now(), () => term.abort());
    };
    extend();
    for (;;) {
      await sleep(clock, times.retryPeriod, term.signal).catch(() => undefined);
      if (term.signal.aborted) break;
      if (await this.#renewInTime(term.signal)) extend();
      else if (!this.#isMine()) term.abort();
    }
    deadline?.cancel();
  }

  /** An attempt to renew. Without an answer it is given up, so that the next one can take another way to the store. */
  async #renewInTime(term: AbortSignal): Promise<boolean> {
    const { clock, times } = this.#options;
    const late = new AbortController();
    const given = AbortSignal.any([term, late.signal]);
    const timer = clock.timer(times.retryPeriod, () => late.abort());
    const aborted = new Promise<false>((resolve) =>
      given.addEventListener('abort', () => resolve(false), { once: true }),
    );
    try {
      return await Promise.race([this.#renewOnce(given), aborted]);
    } finally {
      timer.cancel();
    }
  }

  async #renewOnce(signal: AbortSignal): Promise<boolean> {
    const { log, name } = this.#options;
    try {
      if (await this.#write(signal)) return true;
      await this.#read(signal);
      return this.#isMine() && (await this.#write(signal));
    } catch (error) {
      if (!signal.aborted) log.warn('cannot renew the lease', { lease: name, error: String(error) });
      return false;
    }
  }

  /** Releases the lease, so that the next leader starts without delay. Gives up after a short time. */
  async #release(): Promise<void> {
    const { log, clock, times, name } = this.#options;
    const deadline = new AbortController();
    const timer = clock.timer(times.retryPeriod, () => deadline.abort());
    try {
      // A renewal that was under way when the term ended may have changed the lease.
      while (this.#isMine() && !(await this.#free(deadline.signal))) await this.#read(deadline.signal);
    } catch (error) {
      // The lease expires by itself.
      log.debug('cannot release the lease', { lease: name, error: String(error) });
    } finally {
      timer.cancel();
    }
  }

  async #free(signal: AbortSignal): Promise<boolean> {
    if (!this.#lease) return true;
    const { acquireTime: _, ...spec } = this.#lease.spec;
    const free = { ...this.#lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } };
    try {
      this.#observe(await this.#leases.update(free as Draft<Lease>, { signal }));
      return true;
    } catch (error) {
      if (isApiError(error, 'Conflict')) return false;
      throw error;
    }
  }

  get #leases() {
    const { client, namespace } = this.#options;
    return client.of(Lease).in(namespace);
  }

  /** Time that nobody sets, where there is one. */
  #now(): number {
    const { clock } = this.#options;
    return clock.monotonic?.() ?? clock.now();
  }

  async #read(signal = this.#options.signal): Promise<void> {
    try {
      this.#observe(await this.#leases.get(this.#options.name, { signal }));
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
      this.#lease = undefined;
    }
  }

  #observe(lease: SeenLease): void {
    const isNew = lease.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion;
    this.#lease = lease;
    if (isNew) this.#seenAt = this.#now();
  }

  #isMine(): boolean {
    return this.#lease?.spec.holderIdentity === this.#options.identity;
  }

  #isFree(): boolean {
    if (!this.#lease?.spec.holderIdentity || this.#isMine()) return true;
    return this.#expiresAt() <= this.#now();
  }

  #expiresAt(): number {
    return this.#seenAt + (this.#lease?.spec.leaseDurationSeconds ?? 0) * 1000;
  }

  /** Writes this candidate as the holder. Returns false when another candidate was faster. */
  async #write(signal: AbortSignal): Promise<boolean> {
    const { clock, times, identity, name, namespace } = this.#options;
    const now = microTimestamp(clock.now());
    const old = this.#lease?.spec;
    const isMine = this.#isMine();
    const spec = {
      ...old,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(times.leaseDuration / 1000),
      acquireTime: isMine ? old?.acquireTime : now,
      renewTime: now,
      leaseTransitions: (old?.leaseTransitions ?? 0) + (old && !isMine ? 1 : 0),
    };
    const startedAt = this.#now();
    try {
      const written = this.#lease
        ? await this.#leases.update({ ...this.#lease, spec } as Draft<Lease>, { signal })
        : await this.#leases.create({ metadata: { name, namespace }, spec } as Draft<Lease>, { signal });
      // The answer to a renewal that was given up: others followed it.
      if (signal.aborted && isMine) return false;
      this.#observe(written);
      this.#renewedAt = startedAt;
      return true;
    } catch (error) {
      if (isApiError(error, 'Conflict', 'AlreadyExists', 'NotFound')) return false;
      throw error;
    }
  }
}
