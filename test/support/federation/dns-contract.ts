/** Contract of every DNS provider. Runs on an empty zone. */
import { describe, expect, it } from 'vitest';
import type { DnsProvider, RecordSet } from '../../../src/federation/dns/provider.ts';

interface ProviderUnderTest {
  readonly provider: DnsProvider;
  /** The name of a zone that it has, without A, AAAA and CNAME records; records are removed when a test ends. */
  readonly zone: string;
}

export function describeDnsProvider(title: string, underTest: () => ProviderUnderTest): void {
  const { signal } = new AbortController();
  const open = async () => {
    const { provider, zone } = underTest();
    const found = (await provider.zone(zone, signal))!;
    const at = (label: string) => `${label}.${zone}`;
    const record = (label: string, type: RecordSet['type'], ...values: string[]): RecordSet => ({
      ...{ name: at(label), type, ttlSeconds: 180, values },
    });
    const listed = async () =>
      [...(await found.list(signal))]
        .map(({ values, ...rest }) => ({ ...rest, values: [...values].sort() }))
        .sort((a, b) => (a.name + a.type < b.name + b.type ? -1 : 1));
    const clear = async () => found.change({ remove: await found.list(signal), ensure: [] }, signal);
    return { provider, zone: found, at, record, listed, clear };
  };

  describe(title, () => {
    it('has no zone of another name', async () => {
      const { provider, zone } = await open();
      expect(zone.name).toBe(underTest().zone);
      expect(await provider.zone(`other.${zone.name}`, signal)).toBeUndefined();
    });

    it('lists what was created', async () => {
      const { zone, record, listed, clear } = await open();
      const records = [
        record('a.r1', 'CNAME', `r1.${zone.name}`),
        record('r1', 'A', '192.0.2.1', '192.0.2.2'),
        record('r1', 'AAAA', '2001:db8::1'),
      ];
      await zone.change({ remove: [], ensure: records }, signal);
      expect(await listed()).toEqual(records);
      await clear();
      expect(await listed()).toEqual([]);
    });

    it('replaces values, and addresses by an alias', async () => {
      const { zone, at, record, listed, clear } = await open();
      await zone.change({ remove: [], ensure: [record('r1', 'A', '192.0.2.1')] }, signal);
      await zone.change({ remove: [], ensure: [record('r1', 'A', '192.0.2.3', '192.0.2.4')] }, signal);
      expect(await listed()).toEqual([record('r1', 'A', '192.0.2.3', '192.0.2.4')]);
      const alias = record('r1', 'CNAME', at('global'));
      await zone.change({ remove: [{ name: at('r1'), type: 'A' }], ensure: [alias] }, signal);
      expect(await listed()).toEqual([alias]);
      await clear();
    });

    it('makes the same changes again', async () => {
      const { zone, at, record, listed, clear } = await open();
      const changes = { remove: [{ name: at('gone'), type: 'A' } as const], ensure: [record('r1', 'A', '192.0.2.1')] };
      await zone.change(changes, signal);
      await zone.change(changes, signal);
      expect(await listed()).toEqual([record('r1', 'A', '192.0.2.1')]);
      await clear();
    });

    it('rejects a name outside of the zone', async () => {
      const { zone, record, listed } = await open();
      const outside = { ...record('r1', 'A', '192.0.2.1'), name: 'r1.elsewhere.test.' };
      await expect(zone.change({ remove: [], ensure: [outside] }, signal)).rejects.toMatchObject({
        ...{ name: 'DnsError', reason: 'Invalid' },
      });
      expect(await listed()).toEqual([]);
    });
  });
}
