import { expect, it } from 'vitest';
import { networkOf, parseInterfaces } from './network-usage.ts';

const TEXT = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0:    1500      12    1    2    0     0          0         0     9000      30    3    4    0     0       0          0
long0name:7 1 0 0 0 0 0 0 8 2 0 0 0 0 0 0
`;

it('reads what the interfaces have carried, but for loopback', () => {
  expect(parseInterfaces(TEXT)).toEqual([
    {
      interface: 'eth0',
      received: { bytes: 1500, packets: 12, errors: 1, dropped: 2 },
      sent: { bytes: 9000, packets: 30, errors: 3, dropped: 4 },
    },
    {
      interface: 'long0name',
      received: { bytes: 7, packets: 1, errors: 0, dropped: 0 },
      sent: { bytes: 8, packets: 2, errors: 0, dropped: 0 },
    },
  ]);
  expect(parseInterfaces('')).toEqual([]);
});

it('is nothing for a process that has ended, or has the network of this one', () => {
  expect([networkOf(2 ** 30), networkOf(process.pid)]).toEqual([undefined, undefined]);
});
