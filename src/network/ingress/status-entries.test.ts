import { expect, it } from 'vitest';
import { type StatusEntry, statusEntries } from './status-writer.ts';

const entry = (ip: string, ...ports: readonly number[]) =>
  ports.length === 0 ? { ip } : { ip, ports: ports.map((port) => ({ port, protocol: 'TCP' })) };
const own = entry('10.0.0.1');
const alive = ['10.0.0.1', '10.0.0.2'];
const peers = { isAlive: (ip: string) => alive.includes(ip), sharesAddress: false };

it.each<[string, readonly StatusEntry[], readonly StatusEntry[] | undefined]>([
  ['is added', [], [own]],
  ['is there', [own], undefined],
  ['joins that of a living server', [entry('10.0.0.2')], [entry('10.0.0.2'), own]],
  ['replaces that of a dead server', [entry('10.0.0.3')], [own]],
  ['replaces a name, which no server has', [{}], [own]],
  ['is left behind by a dead server', [entry('10.0.0.3'), own], [own]],
  ['replaces its earlier ports', [entry('10.0.0.1', 80)], [own]],
])('the entry of the server %s', (_, current, expected) => {
  expect(statusEntries(current, own, peers)).toEqual(expected);
});

it('servers with one address have an entry each', () => {
  const other = entry('10.0.0.1', 8080);
  const both = statusEntries([other], own, { ...peers, sharesAddress: true });
  expect(both).toEqual([other, own]);
  expect(statusEntries(both!, other, { ...peers, sharesAddress: true })).toBeUndefined();
});
