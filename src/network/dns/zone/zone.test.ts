import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { addressRecord, cnameRecord, type ZoneRecord } from '../../../protocols/dns-message/record.ts';
import { Zone, type ZoneChange } from './zone.ts';

const a = (name: string, address: string) => addressRecord(name, address)!;
const texts = (records: readonly ZoneRecord[] | undefined) =>
  records?.map(({ type, data }) => `${type} ${data.join('.')}`).sort();

it('a zone has the names above its records, and forgets them with the last record', () => {
  const zone = new Zone();
  zone.apply({ source: 'one', records: [a('web.shop.svc.x', '10.0.0.1')] });
  expect(texts(zone.find('web.shop.svc.x'))).toEqual(['1 10.0.0.1']);
  expect(zone.find('shop.svc.x')).toEqual([]);
  expect(zone.find('other.svc.x')).toBeUndefined();
  zone.apply({ source: 'one', records: [] });
  expect(zone.find('shop.svc.x')).toBeUndefined();
  expect(zone.size).toBe(0);
});

it('a zone keeps a record that two sources have until both are gone', () => {
  const zone = new Zone();
  for (const source of ['one', 'two']) zone.apply({ source, records: [a('p.x', '10.0.0.1')] });
  expect(texts(zone.find('p.x'))).toEqual(['1 10.0.0.1']);
  zone.apply({ source: 'one', records: [] });
  expect(texts(zone.find('p.x'))).toEqual(['1 10.0.0.1']);
  zone.apply({ source: 'two', records: [] });
  expect(zone.find('p.x')).toBeUndefined();
});

const name = fc.constantFrom('a.x', 'b.x', 'c.a.x', 'd.c.a.x', 'x');
const record = fc.oneof(
  fc.tuple(name, fc.constantFrom('10.0.0.1', '10.0.0.2')).map(([owner, address]) => a(owner, address)),
  name.map((owner) => cnameRecord(owner, 'b.x')),
);
const change = fc.record({ source: fc.constantFrom('1', '2', '3'), records: fc.array(record, { maxLength: 4 }) });

it('a zone is after any changes what a new one is with the last of each source', () => {
  forAll(fc.array(change, { maxLength: 12 }), (changes: ZoneChange[]) => {
    const zone = new Zone();
    for (const each of changes) zone.apply(each);
    const fresh = new Zone();
    for (const each of new Map(changes.map((one) => [one.source, one])).values()) fresh.apply(each);
    expect(zone.size).toBe(fresh.size);
    for (const owner of ['a.x', 'b.x', 'c.a.x', 'd.c.a.x', 'x', '']) {
      expect(texts(zone.find(owner))).toEqual(texts(fresh.find(owner)));
    }
  });
});

it('a zone costs for a change what its source has, however many others there are', () => {
  const steps = (services: number) => {
    const zone = new Zone();
    for (let i = 0; i < services; i++)
      zone.apply({ source: `s${i}`, records: [a(`s${i}.n${i % 9}.svc.x`, '10.0.0.1')] });
    let found = 0;
    const counted = a('s7.n7.svc.x', '10.0.0.2');
    const watched = { ...counted };
    Object.defineProperty(watched, 'name', {
      get: () => {
        found++;
        return counted.name;
      },
    });
    zone.apply({ source: 's7', records: [watched] });
    return found;
  };
  expect(steps(5_000)).toBe(steps(50));
});
