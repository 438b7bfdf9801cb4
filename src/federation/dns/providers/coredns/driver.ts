/** The provider `coredns`: records in etcd that CoreDNS answers from. */
import {
  DnsError,
  type DnsProvider,
  type DnsZone,
  type ProviderDriver,
  type RecordChanges,
  type RecordSet,
} from '../../provider.ts';
import { globalSection, listOf } from '../ini.ts';
import { absoluteName, checkNames, recordSets } from '../zones.ts';
import { Etcd } from './etcd.ts';
import { entriesOf, pathOf, recordAt, type SkyRecord } from './skydns.ts';

const KEYS = [
  'etcd-endpoints',
  'zones',
  'etcd-path-prefix',
  'etcd-ca-file',
  'etcd-cert-file',
  'etcd-key-file',
  // Option of the first federation, whose tool told the DNS of members where CoreDNS is. Not used.
  'coredns-endpoints',
];
/** Defaults of the first federation. */
const DEFAULT_ENDPOINT = 'http://federation-dns-server-etcd:2379';
const DEFAULT_PREFIX = 'skydns';
/** etcd allows 128 operations in a transaction, unless it is configured otherwise. */
const MAX_OPERATIONS = 100;
/** Maximum number of lookups; for more changed names, the zone is read once. */
const MAX_LOOKUPS = 20;

export const coredns: ProviderDriver = {
  open({ config, zone }): DnsProvider {
    const values = globalSection(config, KEYS);
    const named = listOf(values.get('zones')).map(absoluteName);
    const zones = new Set(named.length === 0 && zone !== undefined ? [zone] : named);
    if (zones.size === 0) {
      throw new DnsError(
        'Invalid',
        'the key "zones" of the section [Global] is required: the zones that CoreDNS serves',
      );
    }
    if (zone !== undefined && !zones.has(zone)) {
      throw new DnsError('Invalid', `zones: the zone ${zone} is not among them (${[...zones].join(', ')})`);
    }
    const endpoints = listOf(values.get('etcd-endpoints') ?? DEFAULT_ENDPOINT);
    for (const endpoint of endpoints) {
      if (!/^https?:\/\/[^/]+\/?$/.test(endpoint) || !URL.canParse(endpoint)) {
        throw new DnsError('Invalid', `etcd-endpoints: "${endpoint}" is not an address like http://etcd:2379`);
      }
    }
    const etcd = new Etcd({
      endpoints,
      caFile: values.get('etcd-ca-file'),
      certFile: values.get('etcd-cert-file'),
      keyFile: values.get('etcd-key-file'),
    });
    const prefix = (values.get('etcd-path-prefix') ?? DEFAULT_PREFIX).replace(/^\/|\/$/g, '');
    return { zone: async (name) => (zones.has(name) ? new SkyDnsZone(name, etcd, prefix) : undefined) };
  },
};

class SkyDnsZone implements DnsZone {
  constructor(
    readonly name: string,
    private readonly etcd: Etcd,
    private readonly prefix: string,
  ) {}

  async list(signal: AbortSignal): Promise<readonly RecordSet[]> {
    return recordSets(await this.#below(this.name, signal)).filter(({ name }) => name !== this.name);
  }

  async change(changes: RecordChanges, signal: AbortSignal): Promise<void> {
    checkNames(changes, this.name);
    const removed = groupedByName(changes.remove);
    const ensured = groupedByName(changes.ensure);
    const names = new Set([...removed.keys(), ...ensured.keys()]);
    const all = names.size > MAX_LOOKUPS ? groupedByName(await this.#below(this.name, signal)) : undefined;
    let put = new Map<string, string>();
    let remove = new Set<string>();
    // The changes of a name are in one transaction.
    for (const name of names) {
      const existing = all ? (all.get(name) ?? []) : await this.#lookUp(name, signal);
      const wanted = ensured.get(name) ?? [];
      const types = new Set([...(removed.get(name) ?? []), ...wanted].map(({ type }) => type));
      const entries = new Map(wanted.flatMap((set) => [...entriesOf(this.prefix, set)]));
      const stale = existing.filter((each) => each.name === name && types.has(each.type) && !entries.has(each.key));
      if (put.size + remove.size + entries.size + stale.length > MAX_OPERATIONS) {
        await this.etcd.change({ put, remove }, signal);
        [put, remove] = [new Map(), new Set()];
      }
      for (const [key, value] of entries) put.set(key, value);
      for (const { key } of stale) remove.add(key);
    }
    await this.etcd.change({ put, remove }, signal);
  }

  /** Looks a name up. Another program may have written it without a label for the value. */
  async #lookUp(name: string, signal: AbortSignal): Promise<readonly SkyRecord[]> {
    const own = await this.etcd.get(pathOf(this.prefix, name), signal);
    return [...(await this.#below(name, signal)), ...(own ? this.#records([own]) : [])];
  }

  async #below(name: string, signal: AbortSignal): Promise<readonly SkyRecord[]> {
    return this.#records(await this.etcd.list(`${pathOf(this.prefix, name)}/`, signal));
  }

  #records(entries: readonly { readonly key: string; readonly value: string }[]): SkyRecord[] {
    return entries.flatMap(({ key, value }) => recordAt(this.prefix, key, value) ?? []);
  }
}

function groupedByName<T extends { readonly name: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(item.name, [...(groups.get(item.name) ?? []), item]);
  return groups;
}
