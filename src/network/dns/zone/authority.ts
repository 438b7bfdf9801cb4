/** Decides which names this server answers by itself, and how. */
import { RecordClass, RecordType, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import type { Question, Sections } from '../../../protocols/dns-message/message.ts';
import { NameReader, splitName } from '../../../protocols/dns-message/name.ts';
import {
  addressRecord,
  cnameRecord,
  nsRecord,
  type ResourceRecord,
  soaRecord,
  txtRecord,
  type ZoneRecord,
} from '../../../protocols/dns-message/record.ts';
import { isOneName } from '../../../protocols/dns-message/record-data.ts';
import { type AddressRange, reverseRange } from './address-ranges.ts';
import type { Zone } from './zone.ts';

export interface AuthorityOptions {
  /** `cluster.local`. */
  readonly domain: string;
  /** The cluster's own ranges: their reverse names are never looked up elsewhere. */
  readonly ranges: readonly AddressRange[];
  /** Address of the DNS service, for the zone's name server record. */
  readonly serviceAddress: string | undefined;
}

export interface ZoneAnswer extends Sections {
  readonly code: number;
  /** The last of the answers is an alias of this name, which is not ours. */
  readonly alias: string | undefined;
}

export interface AnswerOptions {
  /** Counts answers: most clients use the first record, and each answer starts with another one. */
  readonly turn?: number;
  /** Limit for the message. */
  readonly maxBytes?: number;
}

/** The version of the Kubernetes DNS specification. */
const SCHEMA_VERSION = '1.1.0';
/** Lifetime of records: endpoints follow readiness, so that clients must not remember them for long. */
const TTL_SECONDS = 5;
const TIMES = { refresh: 7_200, retry: 1_800, expire: 86_400, minimum: TTL_SECONDS };
const MAX_ALIASES = 8;
const MAX_MESSAGE_BYTES = 65_535;
/** Size of a record besides its data, with a pointer as its name. */
const MIN_RECORD_BYTES = 12;
const POINTER_BYTES = 2;
/** Length of a name as text: 255 bytes on the wire. */
const MAX_NAME_LENGTH = 253;
const SERVICE_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** The API server's name, which resolves without a namespace, too. */
const API_SERVER = 'kubernetes';
/** Names without the search path: some clients do not use it, or not for names with dots. */
const BARE_NAMES: ReadonlySet<string> = new Set([API_SERVER, `${API_SERVER}.default`, `${API_SERVER}.default.svc`]);

const names = new NameReader();

export class Authority {
  readonly #apiServer: string;
  readonly #apiServerAlias: string;
  readonly #suffix: string;
  #serial = 1;

  constructor(
    private readonly zone: Zone,
    private readonly options: AuthorityOptions,
  ) {
    const { domain, serviceAddress } = options;
    this.#suffix = `.${domain}`;
    this.#apiServer = `${API_SERVER}.default.svc.${domain}`;
    this.#apiServerAlias = `${API_SERVER}.svc.${domain}`;
    const server = serviceAddress === undefined ? undefined : addressRecord(`ns.dns.${domain}`, serviceAddress);
    const records = [
      txtRecord(`dns-version.${domain}`, SCHEMA_VERSION),
      nsRecord(domain, `ns.dns.${domain}`),
      ...(server ? [server] : []),
    ];
    zone.apply({ source: 'zone', records });
  }

  /** Counts a change of the zone. */
  changed(): void {
    this.#serial++;
  }

  /** Answers a question; undefined when the name is not ours. */
  answer(
    { name, type }: Pick<Question, 'name' | 'type'>,
    { turn = 0, maxBytes = MAX_MESSAGE_BYTES }: AnswerOptions = {},
  ): ZoneAnswer | undefined {
    const apex = this.#apexOf(name);
    if (apex === undefined) return undefined;
    const answers: ResourceRecord[] = [];
    let owner = this.#nameOf(name);
    for (let aliases = 0; aliases <= MAX_ALIASES; aliases++) {
      const found = this.#find(owner);
      if (!found) return this.#negative(ResponseCode.NXDOMAIN, apex, answers);
      const shown = aliases === 0 ? name : owner;
      const alias = asksForAliases(type) ? undefined : found.find((record) => record.type === RecordType.CNAME);
      if (!alias) {
        const matching = type === RecordType.ANY ? found : found.filter((record) => record.type === type);
        if (matching.length === 0) return this.#negative(ResponseCode.NOERROR, apex, answers);
        // Aliases precede their targets.
        const sent = firstOf(matching, aliases === 0 ? turn % matching.length : 0, maxBytes);
        for (const record of sent) answers.push(withLife(record, shown));
        const isWhole = sent.length === matching.length;
        return positive(answers, type === RecordType.SRV && isWhole ? this.#targets(sent) : []);
      }
      answers.push(withLife(alias, shown));
      owner = names.read(alias.data, 0);
      if (this.#apexOf(owner) === undefined) return { ...positive(answers, []), alias: owner };
    }
    return { ...positive([], []), code: ResponseCode.SERVFAIL };
  }

  /** The name of the zone that a name of ours is in. */
  #apexOf(name: string): string | undefined {
    const { domain, ranges } = this.options;
    if (name.endsWith(this.#suffix) || name === domain) return domain;
    if (BARE_NAMES.has(name)) return domain;
    if (!name.endsWith('.arpa')) return undefined;
    const range = ranges.find((each) => reverseRange(each, name));
    if (range) return range.reverseApex;
    const known = this.zone.find(name);
    return known && known.length > 0 ? name : undefined;
  }

  /**
   * The API server is found as `kubernetes` from every namespace: the second entry of every search path leads to
   * `kubernetes.svc.DOMAIN`, unless the namespace has a service of that name.
   */
  #nameOf(name: string): string {
    return BARE_NAMES.has(name) || name === this.#apiServerAlias ? this.#apiServer : name;
  }

  #find(name: string): readonly ZoneRecord[] | undefined {
    const found = this.zone.find(name);
    if (name !== this.options.domain) return found ?? this.#redirected(name);
    return [...(found ?? []), this.#soa(name)];
  }

  /**
   * Returns the alias of a name that does not exist, two labels below a name that defines their target:
   * `SERVICE.NAMESPACE.FEDERATION.svc`.
   */
  #redirected(name: string): readonly ZoneRecord[] | undefined {
    const { label: service, parent } = splitName(name);
    const { label: namespace, parent: above } = splitName(parent);
    const redirect = this.zone.find(above)?.find(({ type }) => type === RecordType.DNAME);
    if (!redirect || !SERVICE_LABEL.test(service) || !SERVICE_LABEL.test(namespace)) return undefined;
    const target = `${service}.${namespace}.${names.read(redirect.data, 0)}`;
    return target.length > MAX_NAME_LENGTH ? undefined : [cnameRecord(name, target)];
  }

  #soa(apex: string): ZoneRecord {
    const { domain } = this.options;
    return soaRecord(apex, `ns.dns.${domain}`, `hostmaster.${domain}`, { ...TIMES, serial: this.#serial });
  }

  #negative(code: number, apex: string, answers: readonly ResourceRecord[]): ZoneAnswer {
    return { code, answers, authorities: [withLife(this.#soa(apex))], additionals: [], alias: undefined };
  }

  /** Addresses of the targets of SRV records, so that clients need not ask for them. */
  #targets(answers: readonly ZoneRecord[]): ResourceRecord[] {
    const targets = new Set(answers.map(({ data }) => names.read(data, SRV_FIXED_BYTES)));
    return [...targets].flatMap((target) =>
      (this.zone.find(target) ?? [])
        .filter(({ type }) => type === RecordType.A || type === RecordType.AAAA)
        .map((record) => withLife(record)),
    );
  }
}

const SRV_FIXED_BYTES = 6;

function positive(answers: readonly ResourceRecord[], additionals: readonly ResourceRecord[]): ZoneAnswer {
  return { code: ResponseCode.NOERROR, answers, authorities: [], additionals, alias: undefined };
}

/**
 * The records from one on, as many as can fit, and one more when not all can, so that the message is marked as truncated. A
 * service may have very many, and every query would cost as much as all of them.
 */
function firstOf(records: readonly ZoneRecord[], start: number, maxBytes: number): ZoneRecord[] {
  const first: ZoneRecord[] = [];
  for (let i = 0, bytes = 0; i < records.length && bytes <= maxBytes; i++) {
    const record = records[(start + i) % records.length]!;
    first.push(record);
    bytes += MIN_RECORD_BYTES + (isOneName(record.type) ? POINTER_BYTES : record.data.length);
  }
  return first;
}

function asksForAliases(type: number): boolean {
  return type === RecordType.CNAME || type === RecordType.ANY;
}

function withLife({ name: owner, type, data }: ZoneRecord, name = owner): ResourceRecord {
  return { name, type, class: RecordClass.IN, ttl: TTL_SECONDS, data };
}
