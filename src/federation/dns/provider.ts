/**
 * The contract of DNS providers: zones whose record sets can be listed and changed. A provider knows nothing of services
 * and clusters. Every call rejects with a DnsError, or with the reason of its signal.
 *
 * Names are absolute and in lower case, with a trailing dot (`web.shop.fed.svc.example.com.`).
 */
import type { Random } from '../../base/random.ts';

/** The types of records that a federation publishes. Record sets of other types are neither listed nor changed. */
export type RecordType = 'A' | 'AAAA' | 'CNAME';

/** Records of one name and type. A name with a CNAME has no record of another type. */
export interface RecordSet {
  readonly name: string;
  readonly type: RecordType;
  readonly ttlSeconds: number;
  /** Addresses, sorted and distinct; of a CNAME one absolute name. Never empty. */
  readonly values: readonly string[];
}

/** Identifies a record set in its zone. */
export const recordKey = ({ name, type }: { readonly name: string; readonly type: string }) => `${type} ${name}`;

export interface RecordChanges {
  /** Record sets to delete. Missing ones are skipped. */
  readonly remove: readonly Pick<RecordSet, 'name' | 'type'>[];
  /** Record sets to create; one of the same name and type is replaced. */
  readonly ensure: readonly RecordSet[];
}

export interface DnsZone {
  /** `example.com.` */
  readonly name: string;
  /** Returns all A, AAAA and CNAME record sets of the zone, in any order. */
  list(signal: AbortSignal): Promise<readonly RecordSet[]>;
  /**
   * Makes the changes: all of them in one transaction where the service has transactions, otherwise removals first. Making the
   * same changes again is no error, so that an interrupted call can be repeated. Names outside of the zone are refused.
   */
  change(changes: RecordChanges, signal: AbortSignal): Promise<void>;
}

export interface DnsProvider {
  /** The zone with exactly this name; undefined when the provider does not have it. Providers do not create zones. */
  zone(name: string, signal: AbortSignal): Promise<DnsZone | undefined>;
}

interface ProviderOptions {
  /** Content of the file of `--dns-provider-config`; undefined when none was given. */
  readonly config: string | undefined;
  /**
   * Zone that will be requested, if known: a configuration that cannot serve it is rejected at once, and one that must
   * name zones but names none means this one.
   */
  readonly zone?: string;
  /** Milliseconds since 1970, for signatures. */
  readonly now: () => number;
  readonly random: Pick<Random, 'int'>;
}

export interface ProviderDriver {
  /** Reads the configuration; connects later. Throws a DnsError with reason `Invalid` when it cannot be used. */
  open(options: ProviderOptions): DnsProvider;
}

export type DnsErrorReason =
  /** The configuration or a request is wrong: repeating it does not help. */
  | 'Invalid'
  /** The credentials do not suffice. */
  | 'Forbidden'
  /** The service cannot be reached, or is overloaded. */
  | 'Unavailable';

/** Messages quote servers, and end up in logs and events. */
const MAX_MESSAGE_LENGTH = 1_000;

export class DnsError extends Error {
  override readonly name = 'DnsError';
  readonly reason: DnsErrorReason;

  constructor(reason: DnsErrorReason, message: string, options?: ErrorOptions) {
    super(message.slice(0, MAX_MESSAGE_LENGTH), options);
    this.reason = reason;
  }
}

/** DNS providers that `--dns-provider` can name. Their implementations are loaded by `providers/drivers.ts`. */
export const DNS_PROVIDERS = ['coredns', 'rfc2136', 'google-clouddns', 'aws-route53'] as const;

export type DnsProviderName = (typeof DNS_PROVIDERS)[number];
