import { describe, expect, it } from 'vitest';
import { queryBytes } from '../../../../test/support/network/dns.ts';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { Flag, RecordType, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import { type Response, readQuery, readResponse } from '../../../protocols/dns-message/message.ts';
import { addressRecord, soaRecord } from '../../../protocols/dns-message/record.ts';
import type { Exchange } from './exchange.ts';
import { Forwarder, type Lookup } from './forwarder.ts';
import { hostServers, nameserversOf } from './resolv-conf.ts';

const { NOERROR, NXDOMAIN, SERVFAIL } = ResponseCode;

const lookupOf = (name: string, client = '10.244.0.9'): Lookup => ({
  ...{ question: { name, type: RecordType.A, class: 1 }, wantsDnssec: false, checkingDisabled: false, client },
});

const times = (minimum: number) => ({ serial: 1, refresh: 1, retry: 1, expire: 1, minimum });
const base = readResponse(queryBytes('example.com', RecordType.A, { flags: Flag.RESPONSE }));
const positive = (ttl: number): Response => ({
  ...base,
  answers: [{ ...addressRecord('example.com', '192.0.2.7')!, class: 1, ttl }],
});
const negative = (minimum: number): Response => ({
  ...base,
  code: NXDOMAIN,
  authorities: [{ ...soaRecord('com', 'ns.com', 'root.com', times(minimum)), class: 1, ttl: 900 }],
});

function setUp(respond: (query: Exchange) => Promise<Response>, servers: readonly string[] = ['192.0.2.1']) {
  const clock = new ControlledClock();
  const asked: Exchange[] = [];
  const forwarder = new Forwarder({
    ...{ clock, random: systemRandom, servers: async () => servers },
    exchange: (_, query) => {
      asked.push(query);
      return respond(query);
    },
  });
  const addresses = () => asked.map(({ server }) => server.address);
  return { clock, asked, addresses, forwarder };
}

describe('a lookup', () => {
  it('is sent with another number each time', async () => {
    const { forwarder, asked } = setUp(async () => positive(0));
    for (let i = 0; i < 20; i++) await forwarder.lookup(lookupOf('example.com'));
    expect(new Set(asked.map(({ id }) => id)).size).toBeGreaterThan(15);
    const { question, edns, id } = readQuery(asked[0]!.message);
    expect(question.name).toBe('example.com');
    expect(edns?.udpSize).toBe(1_232);
    expect(id).toBe(asked[0]!.id);
  });

  it('goes to the next server when one fails, which is avoided for a while', async () => {
    const { forwarder, addresses, clock } = setUp(
      async ({ server }) => {
        if (server.address === '192.0.2.1') throw new Error('no response');
        return positive(0);
      },
      ['192.0.2.1', '192.0.2.2'],
    );
    expect(await forwarder.lookup(lookupOf('example.com'))).toMatchObject({ code: NOERROR });
    await forwarder.lookup(lookupOf('example.com'));
    await clock.advance(5_000);
    await forwarder.lookup(lookupOf('example.com'));
    expect(addresses()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.1', '192.0.2.2']);
  });

  it('asks the others when a server cannot find out, and none again', async () => {
    const { forwarder, addresses } = setUp(async () => ({ ...base, code: SERVFAIL }), ['192.0.2.1', '192.0.2.2']);
    expect(await forwarder.lookup(lookupOf('example.com'))).toMatchObject({ code: SERVFAIL });
    expect(addresses()).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  it('fails when no server responds, and is refused when there is none', async () => {
    const dead = setUp(() => Promise.reject(new Error('no response')));
    expect(await dead.forwarder.lookup(lookupOf('example.com'))).toMatchObject({ code: SERVFAIL });
    expect(dead.asked).toHaveLength(3);
    expect(await setUp(async () => positive(0), []).forwarder.lookup(lookupOf('example.com'))).toBe('refused');
  });

  it('waits for the response to an equal one', async () => {
    const { promise: response, resolve: finish } = withResolvers<Response>();
    const { forwarder, asked, clock } = setUp(() => response);
    const both = [forwarder.lookup(lookupOf('example.com')), forwarder.lookup(lookupOf('example.com'))];
    await clock.advance(0);
    finish(positive(60));
    expect(await Promise.all(both)).toMatchObject([{ code: NOERROR }, { code: NOERROR }]);
    expect(asked).toHaveLength(1);
    expect(forwarder.pending).toBe(0);
  });

  it('is not waited for by any number of equal ones', async () => {
    const { forwarder } = setUp(() => new Promise(() => {}));
    for (let i = 0; i <= 1_000; i++) void forwarder.lookup(lookupOf('example.com', 'a'));
    expect(await forwarder.lookup(lookupOf('example.com', 'a'))).toBe('busy');
    const other = forwarder.lookup(lookupOf('example.com', 'b'));
    expect(await Promise.race([other, 'waits'])).toBe('waits');
  });

  it('leaves room for other clients', async () => {
    const { forwarder } = setUp(() => new Promise(() => {}));
    const of = (client: string, count: number) =>
      Array.from({ length: count }, (_, index) => forwarder.lookup(lookupOf(`${index}.${client}.com`, client)));
    of('a', 250);
    expect(await forwarder.lookup(lookupOf('more.com', 'a'))).toBe('busy');
    for (const client of ['b', 'c', 'd']) of(client, 250);
    expect(forwarder.pending).toBe(1_000);
    expect(await forwarder.lookup(lookupOf('more.com', 'e'))).toBe('busy');
  });
});

describe('an answer', () => {
  it('is remembered for its lifetime, which gets shorter', async () => {
    const { forwarder, asked, clock } = setUp(async () => positive(60));
    await forwarder.lookup(lookupOf('example.com'));
    await clock.advance(20_500);
    expect(await forwarder.lookup(lookupOf('example.com'))).toMatchObject({ answers: [{ ttl: 40 }] });
    expect(asked).toHaveLength(1);
    await clock.advance(40_000);
    await forwarder.lookup(lookupOf('example.com'));
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['that there is no name', negative(10), 10],
    ['that there is no name, for at most 30 seconds', negative(3_600), 30],
    ['of a long life, for at most 300 seconds', positive(86_400), 300],
  ])('%s is remembered', async (_, response, seconds) => {
    const { forwarder, asked, clock } = setUp(async () => response);
    await forwarder.lookup(lookupOf('example.com'));
    await clock.advance(seconds * 1_000 - 1);
    await forwarder.lookup(lookupOf('example.com'));
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await forwarder.lookup(lookupOf('example.com'));
    expect(asked).toHaveLength(2);
  });

  it('that is a failure is not', async () => {
    const { forwarder, asked } = setUp(async () => ({ ...base, code: SERVFAIL }));
    for (let i = 0; i < 2; i++) await forwarder.lookup(lookupOf('example.com'));
    expect(asked).toHaveLength(2);
  });
});

it('the servers of the host are those of its resolv.conf', () => {
  const text =
    '# comment\nnameserver 192.0.2.1\nnameserver x\n nameserver fe80::1%eth0\nsearch a.b\nnameserver 192.0.2.1\n';
  expect(nameserversOf(text)).toEqual(['192.0.2.1', 'fe80::1%eth0']);
});

it('the servers of the host are never this server, and read again when queries come', async () => {
  const clock = new ControlledClock();
  let text = 'nameserver 10.0.0.5\nnameserver 192.0.2.1\n';
  const servers = hostServers({ clock, read: async () => text, own: () => new Set(['10.0.0.5']) });
  expect(await servers()).toEqual(['192.0.2.1']);
  text = 'nameserver 192.0.2.2\n';
  expect(await servers()).toEqual(['192.0.2.1']);
  await clock.advance(5_000);
  expect(await servers()).toEqual(['192.0.2.2']);
  expect(clock.waiting).toBe(0);
});
