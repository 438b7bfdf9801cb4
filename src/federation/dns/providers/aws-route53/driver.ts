/** The provider `aws-route53`. */
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { all, escapeXml, tag, textAt, type XmlElement } from '../../../../protocols/aws/xml.ts';
import {
  DnsError,
  type DnsProvider,
  type DnsZone,
  type ProviderDriver,
  type RecordChanges,
  type RecordSet,
  recordKey,
} from '../../provider.ts';
import { globalSection, required } from '../ini.ts';
import { checkNames, zoneSize } from '../zones.ts';
import { type AwsCredentials, machineCredentials, Route53Api } from './api.ts';

const KEYS = [
  ...['access-key-id', 'secret-access-key', 'session-token', 'region', 'hosted-zone-id'],
  ...['api-endpoint', 'metadata-endpoint'],
];
const DEFAULT_API = 'https://route53.amazonaws.com';
const DEFAULT_METADATA = 'http://169.254.169.254';
const DEFAULT_REGION = 'us-east-1';
const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/';
/** Route 53 allows 1,000 records in a request, and counts an upsert twice. */
const MAX_RECORDS = 400;
const PAGE_RECORDS = '300';
/** Maximum number of lookups; for more removals, the zone is read once. */
const MAX_LOOKUPS = 10;
const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME']);

export const awsRoute53: ProviderDriver = {
  open({ config, now }): DnsProvider {
    const values = globalSection(config, KEYS);
    const credentials = credentialsOf(values, now);
    const endpoint = values.get('api-endpoint') ?? DEFAULT_API;
    const region = values.get('region') ?? DEFAULT_REGION;
    const api = new Route53Api({ endpoint, region, credentials, now });
    const wanted = values.get('hosted-zone-id')?.replace(/^\/?hostedzone\//, '');
    return {
      async zone(name, signal) {
        // They are sorted by name, from this one on; private zones can have the name of a public one.
        const page = await api.get('hostedzonesbyname', { dnsname: name, maxitems: '100' }, { signal });
        const zones = all(page, 'HostedZones', 'HostedZone').filter((each) => textAt(each, 'Name') === name);
        const idOf = (zone: XmlElement) => (textAt(zone, 'Id') ?? '').replace(/^\/hostedzone\//, '');
        const found = wanted
          ? zones.find((each) => idOf(each) === wanted)
          : (zones.find((each) => textAt(each, 'Config', 'PrivateZone') !== 'true') ?? zones[0]);
        return found && new HostedZone(name, `hostedzone/${idOf(found)}/rrset`, api);
      },
    };
  },
};

function credentialsOf(values: ReadonlyMap<string, string>, now: () => number): AwsCredentials {
  if (!values.has('access-key-id') && !values.has('secret-access-key')) {
    return machineCredentials(values.get('metadata-endpoint') ?? DEFAULT_METADATA, now);
  }
  const keys = {
    accessKeyId: required(values, 'access-key-id'),
    secretAccessKey: required(values, 'secret-access-key'),
    sessionToken: values.get('session-token'),
  };
  return { get: async () => keys };
}

interface Change {
  readonly action: 'DELETE' | 'UPSERT';
  readonly record: RecordSet;
}

class HostedZone implements DnsZone {
  constructor(
    readonly name: string,
    private readonly path: string,
    private readonly api: Route53Api,
  ) {}

  async list(signal: AbortSignal): Promise<readonly RecordSet[]> {
    const found: RecordSet[] = [];
    let start: Readonly<Record<string, string>> | undefined = {};
    const size = zoneSize('page');
    while (start) {
      const page = await this.api.get(this.path, { ...start, maxitems: PAGE_RECORDS }, { signal, size });
      for (const record of recordsOf(page)) if (record.name !== this.name) found.push(record);
      start = nextPage(page);
    }
    return found;
  }

  /** Applies changes as one transaction. Deleted record sets must be given exactly as they are. */
  async change(changes: RecordChanges, signal: AbortSignal): Promise<void> {
    checkNames(changes, this.name);
    const replaced = new Set(changes.ensure.map(recordKey));
    const doomed = changes.remove.filter((each) => !replaced.has(recordKey(each)));
    const all = [
      ...(await this.#existing(doomed, signal)).map((record): Change => ({ action: 'DELETE', record })),
      ...changes.ensure.map((record): Change => ({ action: 'UPSERT', record })),
    ];
    for (const batch of batches(all)) await this.api.post(`${this.path}/`, batchXml(batch), signal);
  }

  async #existing(
    wanted: readonly Pick<RecordSet, 'name' | 'type'>[],
    signal: AbortSignal,
  ): Promise<readonly RecordSet[]> {
    if (wanted.length === 0) return [];
    const keys = new Set(wanted.map(recordKey));
    if (wanted.length > MAX_LOOKUPS) return (await this.list(signal)).filter((each) => keys.has(recordKey(each)));
    const pages: RecordSet[] = [];
    // Requests run one after the other: Route 53 takes five a second.
    for (const { name, type } of wanted) {
      pages.push(...recordsOf(await this.api.get(this.path, { name, type, maxitems: '1' }, { signal })));
    }
    return pages.filter((each) => keys.delete(recordKey(each)));
  }
}

/** Returns records, without aliases of AWS' own services and sets with weights, which the federation does not make. */
function recordsOf(page: XmlElement): readonly RecordSet[] {
  return all(page, 'ResourceRecordSets', 'ResourceRecordSet').flatMap((set) => {
    const [name, type, ttl] = [textAt(set, 'Name'), textAt(set, 'Type'), textAt(set, 'TTL')];
    const values = all(set, 'ResourceRecords', 'ResourceRecord').map((each) => textAt(each, 'Value') ?? '');
    if (name === undefined || ttl === undefined || !TYPES.has(type ?? '') || values.length === 0) return [];
    if (textAt(set, 'SetIdentifier') !== undefined) return [];
    return [{ name: unescaped(name), type: type as RecordSet['type'], ttlSeconds: Number(ttl), values: values.sort() }];
  });
}

function nextPage(page: XmlElement): Readonly<Record<string, string>> | undefined {
  if (textAt(page, 'IsTruncated') !== 'true') return undefined;
  const [name, type, identifier] = ['NextRecordName', 'NextRecordType', 'NextRecordIdentifier'].map((field) =>
    textAt(page, field),
  );
  if (!name || !type) throw new DnsError('Unavailable', 'Route 53 does not say where the next page starts');
  return { name, type, ...(identifier ? { identifier } : {}) };
}

/** Route 53 shows characters other than letters, digits and hyphens as three octal digits. */
function unescaped(name: string): string {
  return name.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The changes of a name follow each other, and stay together where a batch allows it. */
function batches(changes: readonly Change[]): readonly (readonly Change[])[] {
  const byName = new Map<string, Change[]>();
  for (const change of changes) {
    getOrInsert(byName, change.record.name, () => []).push(change);
  }
  const found: Change[][] = [];
  let records = Number.POSITIVE_INFINITY;
  for (const group of byName.values()) {
    const size = group.reduce((sum, { record }) => sum + record.values.length, 0);
    if (records + size > MAX_RECORDS) {
      found.push([]);
      records = 0;
    }
    found.at(-1)!.push(...group);
    records += size;
  }
  return found;
}

function batchXml(batch: readonly Change[]): string {
  const changes = batch.map(({ action, record: { name, type, ttlSeconds, values } }) => {
    const records = values.map((value) => tag('ResourceRecord', tag('Value', escapeXml(value)))).join('');
    const fields = [
      tag('Name', escapeXml(name)),
      tag('Type', type),
      tag('TTL', String(ttlSeconds)),
      tag('ResourceRecords', records),
    ];
    return tag('Change', tag('Action', action) + tag('ResourceRecordSet', fields.join('')));
  });
  const content = tag('ChangeBatch', tag('Changes', changes.join('')));
  return `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="${NAMESPACE}">${content}</ChangeResourceRecordSetsRequest>`;
}
