/** DNS provider in memory, for tests of its users. */
import {
  DnsError,
  type DnsProvider,
  type DnsZone,
  type ProviderDriver,
  type RecordSet,
  type RecordType,
} from '../../../src/federation/dns/provider.ts';

export class MemoryZone implements DnsZone {
  readonly name: string;
  readonly #records = new Map<string, RecordSet>();

  constructor(name: string) {
    this.name = name;
  }

  async list(): Promise<readonly RecordSet[]> {
    return [...this.#records.values()];
  }

  async change({ remove, ensure }: Parameters<DnsZone['change']>[0]): Promise<void> {
    for (const { name } of [...remove, ...ensure]) {
      if (!name.endsWith(`.${this.name}`)) throw new DnsError('Invalid', `${name} is not in the zone ${this.name}`);
    }
    for (const { name, type } of remove) this.#records.delete(key(name, type));
    for (const record of ensure) this.#records.set(key(record.name, record.type), record);
  }
}

const key = (name: string, type: RecordType) => `${type} ${name}`;

/** DNS provider in memory. Its configuration is the names of its zones, separated by spaces. */
export const memoryDns: ProviderDriver = {
  open({ config = '' }): DnsProvider {
    const zones = new Map(config.split(' ').map((name) => [name, new MemoryZone(name)]));
    return { zone: async (name) => zones.get(name) };
  },
};
