import { expect, it } from 'vitest';
import { atOnce, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { packed as dividedPacked, MAX_ADDRESSES, type Subset, truncated } from './subsets.ts';

const packed = (subsets: readonly Subset[]) => atOnce(dividedPacked(subsets, NEVER_SPENT));

const address = fc.nat(20).map((n) => ({ ip: `10.0.0.${n}` }));
const port = fc.constantFrom(80, 81, 82).map((number) => ({ port: number, protocol: 'TCP' as const }));
const subsets = fc.array(
  fc.record({
    addresses: fc.array(address, { maxLength: 5 }),
    notReadyAddresses: fc.array(address, { maxLength: 5 }),
    ports: fc.array(port, { maxLength: 2 }),
  }),
  { maxLength: 6 },
);
const many = (length: number, from = 0) =>
  Array.from({ length }, (_, index) => ({ ip: `10.${from}.${index >> 8}.${index & 255}` }));
const counts = (list: readonly Subset[]) =>
  list.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]);

/** Lists the addresses behind each port, and whether all subsets agree that they are ready. */
function behind(list: readonly Subset[]): string[] {
  const out = new Map<string, boolean>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of list) {
    for (const each of ports.length > 0 ? ports : [undefined]) {
      const key = (ip: string) => `${each?.port} ${ip}`;
      for (const { ip } of addresses) out.set(key(ip), out.get(key(ip)) ?? true);
      for (const { ip } of notReadyAddresses) out.set(key(ip), false);
    }
  }
  return [...out].map(([key, isReady]) => `${key} ${isReady}`).sort();
}

it('subsets are packed without loss, and stay as they are then', () => {
  forAll(subsets, (given) => {
    const { subsets: once } = packed(given);
    expect(behind(once)).toEqual(behind(given));
    expect(packed(once).subsets).toEqual(once);
  });
});

it('subsets are truncated proportionally, addresses that are not ready first', () => {
  expect(truncated([{ addresses: many(MAX_ADDRESSES) }])).toBeUndefined();
  const first = truncated([
    { addresses: many(600), notReadyAddresses: many(300, 1) },
    { addresses: many(300, 2), notReadyAddresses: many(100, 3) },
  ]);
  expect(counts(first ?? [])).toEqual([
    [600, 75],
    [300, 25],
  ]);
  const second = truncated([{ addresses: many(1500), notReadyAddresses: many(3, 1) }, { addresses: many(500, 2) }]);
  expect(counts(second ?? [])).toEqual([
    [750, 0],
    [250, 0],
  ]);
});
