/** The server with real sockets: datagrams, connections, and an upstream server. */
import { execFile, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DOMAIN, queryBytes, serviceChange, summary } from '../../../../test/support/network/dns.ts';
import { dnsNames, startDns, type TestDnsServer } from '../../../../test/support/network/dns-server.ts';
import { systemRandom } from '../../../base/random.ts';
import { framed, MessageFrames } from '../../../protocols/dns-message/frames.ts';

function start(upstream: readonly { address: string; port: number }[] = []) {
  return startDns({ domain: DOMAIN, ranges: ['10.96.0.0/16'], serviceAddress: '10.96.0.10', clients: [], upstream });
}

const endpoints = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ addresses: [`10.244.1.${index}`] }));

let upstream: TestDnsServer;
let server: TestDnsServer;
let resolver: Resolver;

beforeEach(async () => {
  upstream = await start();
  upstream.names.apply([]);
  server = await start();
  server.names.apply([
    serviceChange('kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] }),
    serviceChange('web', { clusterIP: 'None' }, endpoints(200)),
    serviceChange('api', { type: 'ExternalName', externalName: 'kubernetes.default.svc.cluster.local' }),
  ]);
  resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${server.port}`]);
});

afterEach(async () => {
  await server.close();
  await upstream.close();
});

describe('with the resolver of Node', () => {
  it('answers every kind of question', async () => {
    expect(await resolver.resolve4('kubernetes.default.svc.cluster.local')).toEqual(['10.96.0.1']);
    expect(await resolver.resolve4('kubernetes')).toEqual(['10.96.0.1']);
    expect(await resolver.resolve4('api.shop.svc.cluster.local', { ttl: true })).toEqual([
      { address: '10.96.0.1', ttl: 5 },
    ]);
    expect(await resolver.resolveCname('api.shop.svc.cluster.local')).toEqual(['kubernetes.default.svc.cluster.local']);
    expect(await resolver.reverse('10.96.0.1')).toEqual(['kubernetes.default.svc.cluster.local']);
    expect(await resolver.resolveTxt('dns-version.cluster.local')).toEqual([['1.1.0']]);
    expect(await resolver.resolveSrv('_https._tcp.kubernetes.default.svc.cluster.local')).toEqual([
      { name: 'kubernetes.default.svc.cluster.local', port: 443, priority: 0, weight: 100 },
    ]);
    expect(await resolver.resolveSoa('cluster.local')).toMatchObject({ nsname: 'ns.dns.cluster.local', minttl: 5 });
  });

  it('tells a missing name from a missing record', async () => {
    await expect(resolver.resolve4('nope.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve6('kubernetes.default.svc.cluster.local')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolve4('example.com')).rejects.toMatchObject({ code: 'EREFUSED' });
  });

  it('gives large answers over TCP', async () => {
    expect(await resolver.resolve4('web.shop.svc.cluster.local')).toHaveLength(200);
  });
});

it('asks the servers of a domain for its names, from the moment that they are named', async () => {
  upstream.names.apply([serviceChange('kubernetes', { clusterIP: '10.96.0.77' })]);
  const asking = await startDns({
    domain: 'other.local',
    ranges: [],
    serviceAddress: undefined,
    clients: [],
    upstream: [],
  });
  asking.names.apply([]);
  resolver.setServers([`127.0.0.1:${asking.port}`]);
  const name = 'kubernetes.default.svc.cluster.local';
  await expect(resolver.resolve4(name)).rejects.toThrow('REFUSED');
  const servers = [{ address: '127.0.0.1', port: upstream.port }];
  asking.names.forward({ stubs: [{ domain: 'cluster.local', servers }], servers: [] });
  expect(await resolver.resolve4(name)).toEqual(['10.96.0.77']);
  await expect(resolver.resolve4('example.org')).rejects.toThrow('REFUSED');
  asking.names.forward({ stubs: [], servers: [] });
  await expect(resolver.resolve4(name)).rejects.toThrow('REFUSED');
  await asking.close();
});

it('asks an upstream server, over TCP for a large answer, and remembers what it said', async () => {
  upstream.names.apply([serviceChange('web', { clusterIP: 'None' }, endpoints(150))]);
  const settings = { domain: 'other.local', ranges: [], serviceAddress: undefined, clients: [] };
  const chained = await startDns({ ...settings, upstream: [{ address: '127.0.0.1', port: upstream.port }] });
  try {
    resolver.setServers([`127.0.0.1:${chained.port}`]);
    expect(await resolver.resolve4('web.shop.svc.cluster.local')).toHaveLength(150);
    const { queries } = upstream.counters;
    expect(await resolver.resolve4('web.shop.svc.cluster.local')).toHaveLength(150);
    expect(upstream.counters.queries).toBe(queries);
    await expect(resolver.resolve4('nope.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  } finally {
    await chained.close();
  }
});

describe('a connection', () => {
  let socket: Socket;
  beforeEach(async () => {
    socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
  });
  afterEach(() => {
    socket.destroy();
  });

  async function responses(count: number) {
    const frames = new MessageFrames();
    const found: Buffer[] = [];
    for await (const data of socket) {
      for (const message of frames.push(data)) found.push(message);
      if (found.length >= count) break;
    }
    return found;
  }

  it('carries many queries at once', async () => {
    const queries = Array.from({ length: 300 }, (_, id) => framed(queryBytes('kubernetes', 1, { id })));
    socket.write(Buffer.concat(queries));
    const found = await responses(300);
    expect(found.map((message) => message.readUInt16BE(0)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 300 }, (_, id) => id),
    );
  });

  it('can arrive in single bytes', async () => {
    for (const byte of framed(queryBytes('kubernetes'))) socket.write(Buffer.from([byte]));
    expect(summary((await responses(1))[0]!).answers).toEqual(['kubernetes A 10.96.0.1']);
  });

  it('ends when it carries something else', async () => {
    socket.resume();
    socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(2_000));
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});

it('survives datagrams of all kinds', async () => {
  const socket = createSocket('udp4');
  const port = server.port;
  for (let i = 0; i < 500; i++) socket.send(systemRandom.bytes(systemRandom.int(600)), port, '127.0.0.1');
  expect(await resolver.resolve4('kubernetes')).toEqual(['10.96.0.1']);
  socket.close();
});

it('answers by other names from one query to the next, and by the old ones until the others are complete', async () => {
  const next = dnsNames({ domain: DOMAIN, ranges: [], serviceAddress: undefined, clients: [], upstream: [] });
  next.apply([serviceChange('kubernetes', { clusterIP: '10.96.0.2' })]);
  expect(await resolver.resolve4('kubernetes')).toEqual(['10.96.0.1']);
  server.use(next);
  expect(await resolver.resolve4('kubernetes')).toEqual(['10.96.0.2']);
});

it('a server cannot be started twice on one port', async () => {
  const settings = { domain: DOMAIN, ranges: [], serviceAddress: undefined, clients: [], upstream: [] };
  await expect(startDns(settings, server.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

const dig = spawnSync('dig', ['-v']).error ? undefined : promisify(execFile);
if (!dig) console.log('skipped: dig is not installed');

describe.skipIf(!dig)('with dig', () => {
  const ask = async (...args: string[]) => {
    const { stdout } = await dig!('dig', ['@127.0.0.1', '-p', String(server.port), '+tries=2', '+time=5', ...args]);
    return stdout;
  };

  it('answers over UDP and TCP, with and without EDNS', async () => {
    expect(await ask('+short', 'kubernetes.default.svc.cluster.local')).toBe('10.96.0.1\n');
    expect(await ask('+short', '+tcp', '+noedns', 'kubernetes.default.svc.cluster.local')).toBe('10.96.0.1\n');
    expect(await ask('+short', '-x', '10.96.0.1')).toBe('kubernetes.default.svc.cluster.local.\n');
    expect(await ask('+short', '-t', 'srv', '_https._tcp.kubernetes.default.svc.cluster.local')).toBe(
      '0 100 443 kubernetes.default.svc.cluster.local.\n',
    );
  });

  it('sees what is truncated, and asks again over TCP', async () => {
    const cut = await ask('+ignore', '+noedns', 'web.shop.svc.cluster.local');
    expect(cut).toMatch(/flags: qr aa tc/);
    const whole = await ask('web.shop.svc.cluster.local');
    expect(whole).toContain('ANSWER: 200,');
    expect(whole).toContain('(TCP)');
  });

  it('finds nothing wrong with negative answers', async () => {
    const missing = await ask('nope.shop.svc.cluster.local');
    expect(missing).toContain('status: NXDOMAIN');
    expect(missing).toMatch(/cluster\.local\.\s+5\s+IN\s+SOA\s+ns\.dns\.cluster\.local\./);
    expect(missing).not.toMatch(/warning: (?!\.local)/i);
  });
});

it('a server has metrics with the names of CoreDNS', async () => {
  await resolver.resolve4('kubernetes.default.svc.cluster.local');
  await expect(resolver.resolve4('absent.default.svc.cluster.local')).rejects.toThrow('ENOTFOUND');
  const response = await fetch(`http://127.0.0.1:${server.metricsPort}/metrics`);
  expect(response.headers.get('content-type')).toContain('version=0.0.4');
  const lines = (await response.text()).split('\n');
  expect(lines).toContain('# TYPE coredns_dns_requests_total counter');
  expect(lines).toContain('coredns_dns_requests_total{server="dns://:53"} 2');
  expect(lines).toContain('coredns_dns_responses_total{server="dns://:53",rcode="NOERROR"} 1');
  expect(lines).toContain('coredns_dns_responses_total{server="dns://:53",rcode="NXDOMAIN"} 1');
  expect((await fetch(`http://127.0.0.1:${server.metricsPort}/other`)).status).toBe(404);
});
