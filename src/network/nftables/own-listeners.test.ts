import { expect, it } from 'vitest';
import { transactionText } from '../kernel/transaction-text.ts';
import { ownListenersTable } from './own-listeners.ts';

it('the destinations of connections to sockets stay, by address, and not those of queries', async () => {
  const text = await transactionText(
    'qd-n-1-listeners',
    ownListenersTable([
      { protocol: 'tcp', address: '127.0.0.1', port: 6443 },
      { protocol: 'tcp', address: '0.0.0.0', port: 53 },
      { protocol: 'udp', address: '192.0.2.1', port: 53 },
      { protocol: 'udp', address: '0.0.0.0', port: 41_234 },
      { protocol: 'tcp', address: '::', port: 80 },
      { protocol: 'tcp', address: '::1', port: 6443 },
    ]),
  );
  const rules = text.split('\n').filter((line) => line.includes(' dnat '));
  expect(rules.map((line) => line.replace('add rule inet qd-n-1-listeners own-listeners ', ''))).toEqual([
    'ip daddr 127.0.0.1 tcp dport 6443 dnat ip to ip daddr',
    'meta nfproto ipv4 tcp dport 53 dnat ip to ip daddr',
    'ip daddr 192.0.2.1 udp dport 53 dnat ip to ip daddr',
    'meta nfproto ipv4 tcp dport 80 dnat ip to ip daddr',
    'meta nfproto ipv6 tcp dport 80 dnat ip6 to ip6 daddr',
    'ip6 daddr ::1 tcp dport 6443 dnat ip6 to ip6 daddr',
  ]);
  expect(text).toContain('fib daddr type local jump own-listeners');
});
