/**
 * Elects a leader among several candidates by a Lease that the leader renews. Expiry is measured from when this
 * candidate saw a renewal, so clocks need not agree.
 */

import { isApiError } from '../api/errors.ts';
import type { Draft } from '../api/object-types.ts';
import type { SeenLease } from '../api/seen-objects.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { type Clock, sleep, type Timer } from '../base/time/clock.ts';
import { microTimestamp } from '../base/time/timestamp.ts';
import { Lease } from '../kinds/groups/coordination/lease.ts';
import type { Client } from './client.ts';

export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends the candidacy; a held lease is released. */
  readonly signal: AbortSignal;
  /** The lease, such as `kube-controller-manager` in `kube-system`. */
  readonly name: string;
  readonly namespace: string;
  /** Identifies the candidate; unique for every process. */
  readonly identity: string;
  /** Time that other candidates wait after the last renewal, in milliseconds. Default: 15 seconds. */
  readonly leaseDuration?: number;
  /** Time after the last renewal when a leader steps down by itself; less than `leaseDuration`. Default: 10 seconds. */
  readonly renewDeadline?: number;
  /** Interval between attempts to acquire or renew the lease. Default: 2 seconds. */
  readonly retryPeriod?: number;
}

/**
 * Calls `lead` whenever this candidate becomes the leader. Its signal is aborted as soon as leadership is no longer
 * certain; the next attempt starts only after `lead` has ended. Resolves when the candidacy has ended.
 */
export async function runWhileLeader(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { clock, random, log, signal, identity, retryPeriod = 2000 } = options;
  const candidate = new Candidate(options);
  while (!signal.aborted) {
    if (await candidate.acquire()) {
      log.info('became leader', { identity });
      await candidate.lead(lead);
      log.info('stopped leading', { identity });
    } else {
      await sleep(clock, retryPeriod * (1 + random.int(1000) / 1000), signal).catch(() => undefined);
    }
  }
}

class Candidate {
  readonly #options: Required<LeaderElectionOptions>;
  /** The last seen lease, and when it was first seen in that state. */
  #lease: SeenLease | undefined;
  #seenAt = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000, ...options };
  }

  /** Acquires the lease if it is free or expired. Returns whether it is held now. */
  async acquire(): Promise<boolean> {
    const { log, signal } = this.#options;
    try {
      await this.#read();
      return this.#isFree() && (await this.#write());
    } catch (error) {
      if (!signal.aborted) log.warn('cannot acquire the lease', { error: String(error) });
      return false;
    }
  }

  async lead(lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    const term = new AbortController();
    const end = () => term.abort();
    signal.addEventListener('abort', end, { once: true });
    const renewing = this.#renew(term);
    try {
      if (signal.aborted) end();
      await lead(term.signal);
    } finally {
      end();
      await renewing;
      signal.removeEventListener('abort', end);
      await this.#release();
    }
  }

  /**
   * Renews the lease until the term ends. Ends the term when another candidate holds the lease, or when the renewal is
   * late.
   */
  async #renew(term: AbortController): Promise<void> {
    const { clock, renewDeadline, retryPeriod } = this.#options;
    let deadline: Timer | undefined;
    const extend = (from: number) => {
      deadline?.cancel();
      deadline = clock.timer(from + renewDeadline - clock.now(), () => term.abort());
    };
    extend(this.#seenAt);
    for (;;) {
      await sleep(clock, retryPeriod, term.signal).catch(() => undefined);
      if (term.signal.aborted) break;
      const startedAt = clock.now();
      if (await this.#renewOnce(term.signal)) extend(startedAt);
      else if (!this.#isMine()) term.abort();
    }
    deadline?.cancel();
  }

  async #renewOnce(signal: AbortSignal): Promise<boolean> {
    const { log } = this.#options;
    try {
      if (await this.#write(signal)) return true;
      await this.#read(signal);
      return this.#isMine() && (await this.#write(signal));
    } catch (error) {
      if (!signal.aborted) log.warn('cannot renew the lease', { error: String(error) });
      return false;
    }
  }

  /** Releases the lease, so that the next leader starts without delay. Gives up after a short time. */
  async #release(): Promise<void> {
    if (!this.#lease || !this.#isMine()) return;
    const { log, clock, retryPeriod } = this.#options;
    const deadline = new AbortController();
    const timer = clock.timer(retryPeriod, () => deadline.abort());
    const { acquireTime: _, ...spec } = this.#lease.spec;
    const free = { ...this.#lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } };
    try {
      this.#observe(await this.#leases.update(free as Draft<Lease>, { signal: deadline.signal }));
    } catch (error) {
      // The lease expires by itself.
      log.debug('cannot release the lease', { error: String(error) });
    } finally {
      timer.cancel();
    }
  }

  get #leases() {
    const { client, namespace } = this.#options;
    return client.of(Lease).in(namespace);
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
    if (isNew) this.#seenAt = this.#options.clock.now();
  }

  #isMine(): boolean {
    return this.#lease?.spec.holderIdentity === this.#options.identity;
  }

  #isFree(): boolean {
    const { holderIdentity, leaseDurationSeconds = 0 } = this.#lease?.spec ?? {};
    if (!holderIdentity || this.#isMine()) return true;
    return this.#seenAt + leaseDurationSeconds * 1000 < this.#options.clock.now();
  }

  /** Writes this candidate as the holder. Returns false when another candidate was faster. */
  async #write(signal = this.#options.signal): Promise<boolean> {
    const { clock, leaseDuration, identity, name, namespace } = this.#options;
    const now = microTimestamp(clock.now());
    const old = this.#lease?.spec;
    const isMine = this.#isMine();
    const spec = {
      ...old,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      acquireTime: isMine ? old?.acquireTime : now,
      renewTime: now,
      leaseTransitions: (old?.leaseTransitions ?? 0) + (old && !isMine ? 1 : 0),
    };
    const startedAt = clock.now();
    try {
      const written = this.#lease
        ? await this.#leases.update({ ...this.#lease, spec } as Draft<Lease>, { signal })
        : await this.#leases.create({ metadata: { name, namespace }, spec } as Draft<Lease>, { signal });
      this.#observe(written);
      this.#seenAt = startedAt;
      return true;
    } catch (error) {
      if (isApiError(error, 'Conflict', 'AlreadyExists', 'NotFound')) return false;
      throw error;
    }
  }
}
