import { expect, it } from 'vitest';
import { queryBytes } from '../../../../test/support/network/dns.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { RecordType } from '../../../protocols/dns-message/codes.ts';
import { exchange } from './exchange.ts';

it('fails at once when the server cannot be reached', async () => {
  // The kernel refuses to connect to this address, as it does to every address when the machine has no network.
  const server = { address: '255.255.255.255', port: 53 };
  const question = { name: 'example.com', type: RecordType.A, class: 1 };
  const query = { server, id: 1, question, message: queryBytes('example.com', RecordType.A), timeoutMs: 1_000 };
  await expect(exchange(systemClock, query)).rejects.toMatchObject({ syscall: 'connect' });
});
