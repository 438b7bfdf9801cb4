/**
 * Brings the zone of a provider to the desired records of services. It reads the zone at first, after a failure and
 * from time to time, and sends only differences; changes of many services are sent together.
 */

import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import { DnsError, type DnsProvider, type DnsZone, type RecordChanges, type RecordSet } from '../../dns/provider.ts';
import { type FederationDomain, recordChanges, serviceOfRecord } from '../../dns/service-records.ts';
import { type FederationTools, inTime } from '../tools.ts';

export interface ZonePublisherOptions extends Pick<FederationTools, 'clock' | 'random' | 'log' | 'signal'> {
  readonly provider: DnsProvider;
  /** `example.com.` */
  readonly zone: string;
  readonly names: FederationDomain;
  /** Reports whether the service exists, or may exist. Records of services that do not exist are removed. */
  readonly exists: (key: string) => boolean;
  /** Called when the records of a service could not be published; not for each repetition of the same failure. */
  readonly failed: (key: string, message: string) => void;
}

const MAX_SERVICES_PER_CHANGE = 200;
const CALL_LIMIT = {
  ms: 30_000,
  late: new DnsError('Unavailable', 'the DNS provider did not answer within 30 s'),
};
/** Period for reverting edits of the zone by others. */
const REPAIR_PERIOD_MS = 300_000;
const RETRY = { base: 500, max: 60_000 };

/** Services are named `NAMESPACE/NAME`. */
export class ZonePublisher {
  readonly #desired = new Map<string, readonly RecordSet[]>();
  readonly #dirty = new Set<string>();
  /** Records of the zone by service; undefined when they must be read. */
  #actual: Map<string, readonly RecordSet[]> | undefined;
  #zone: DnsZone | undefined;
  #repairAt = 0;
  #lastFailure: string | undefined;
  /** Services whose part in it was reported. */
  readonly #reported = new Set<string>();
  readonly #loop: ReconcileLoop;

  constructor(private readonly options: ZonePublisherOptions) {
    const { clock, random, log } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      backoff: RETRY,
      isPatient: true,
      failure: 'the DNS zone could not be brought up to date',
      isExpected: ({ message }) => message === this.#lastFailure,
      failed: (_, [error]) => this.#report(error!),
      reconcile: (zone) => this.#reconcile(zone),
    });
  }

  /** The records that a service should have from now on. */
  set(key: string, records: readonly RecordSet[]): void {
    const known = this.#desired.get(key);
    if (known && JSON.stringify(known) === JSON.stringify(records)) return;
    this.#desired.set(key, records);
    this.#dirty.add(key);
    this.#loop.add(this.options.zone);
  }

  /** Publishes until the signal is aborted. */
  async run(): Promise<void> {
    this.#loop.add(this.options.zone);
    await this.#loop.run(this.options.signal);
  }

  async #reconcile(zone: string): Promise<void> {
    const { clock, log } = this.options;
    if (clock.now() >= this.#repairAt) this.#actual = undefined;
    if (!this.#actual) this.#repairAt = clock.now() + REPAIR_PERIOD_MS;
    await this.#publish();
    if (this.#lastFailure !== undefined) log.info('the DNS zone is up to date again', { zone });
    this.#lastFailure = undefined;
    this.#reported.clear();
    this.#loop.addAfter(zone, this.#repairAt - clock.now());
  }

  async #publish(): Promise<void> {
    if (!this.#actual) {
      const { names, exists } = this.options;
      const listed = await inTime(this.options, CALL_LIMIT, (signal) => this.#list(signal));
      this.#actual = new Map();
      for (const record of listed) {
        const owner = serviceOfRecord(names, record.name);
        if (!owner) continue;
        const key = `${owner.namespace}/${owner.service}`;
        this.#actual.set(key, [...(this.#actual.get(key) ?? []), record]);
      }
      for (const key of this.#desired.keys()) this.#dirty.add(key);
      for (const key of this.#actual.keys()) {
        if (!this.#desired.has(key) && !exists(key)) this.set(key, []);
      }
    }
    while (this.#dirty.size > 0) await this.#send([...this.#dirty].slice(0, MAX_SERVICES_PER_CHANGE));
  }

  async #list(signal: AbortSignal): Promise<readonly RecordSet[]> {
    const { provider, zone: name } = this.options;
    this.#zone ??= await provider.zone(name, signal);
    if (!this.#zone) throw new DnsError('Invalid', `the DNS provider has no zone ${name}`);
    return this.#zone.list(signal);
  }

  /** A service that is rejected does not keep the others from being published. */
  async #send(keys: readonly string[]): Promise<void> {
    const parts = keys.map((key) => ({ key, records: this.#desired.get(key) ?? [], changes: this.#changesOf(key) }));
    const change: RecordChanges = {
      remove: parts.flatMap(({ changes }) => changes.remove),
      ensure: parts.flatMap(({ changes }) => changes.ensure),
    };
    try {
      if (change.remove.length + change.ensure.length > 0) {
        await inTime(this.options, CALL_LIMIT, (signal) => this.#zone!.change(change, signal));
      }
    } catch (error) {
      if (!(error instanceof DnsError) || error.reason !== 'Invalid') throw error;
      if (keys.length > 1) {
        for (const key of keys) await this.#send([key]);
        return;
      }
      // It is tried again when the service changes, and with the next repair.
      this.#dirty.delete(keys[0]!);
      this.options.failed(keys[0]!, error.message);
      return;
    }
    for (const { key, records } of parts) this.#sent(key, records);
  }

  #changesOf(key: string): RecordChanges {
    const [namespace = '', service = ''] = key.split('/');
    const name = { ...this.options.names, namespace, service };
    return recordChanges(name, this.#actual?.get(key) ?? [], this.#desired.get(key) ?? []);
  }

  #sent(key: string, records: readonly RecordSet[]): void {
    this.#actual?.set(key, records);
    // It may have changed while the provider was at work.
    if ((this.#desired.get(key) ?? []) !== records && this.#desired.has(key)) return;
    this.#dirty.delete(key);
    if (records.length > 0) return;
    this.#desired.delete(key);
    this.#actual?.delete(key);
  }

  #report({ message }: Error): void {
    this.#actual = undefined;
    if (message !== this.#lastFailure) this.#reported.clear();
    this.#lastFailure = message;
    for (const key of this.#dirty) {
      if (this.#reported.has(key)) continue;
      this.#reported.add(key);
      this.options.failed(key, message);
    }
  }
}
