/** Tests that broken and malicious servers make providers fail soon with a DnsError, without using much memory. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../base/random.ts';
import { framed } from '../../../protocols/dns-message/frames.ts';
import { nameBytes } from '../../../protocols/dns-message/name.ts';
import { DnsError, type DnsZone, type ProviderDriver } from '../provider.ts';
import { awsRoute53 } from './aws-route53/driver.ts';
import { coredns } from './coredns/driver.ts';
import { googleCloudDns } from './google-clouddns/driver.ts';
import { httpCall } from './http.ts';
import { rfc2136 } from './rfc2136/driver.ts';

const ZONE = 'example.com.';
const { signal } = new AbortController();
const RECORD = { name: `web.${ZONE}`, type: 'A', ttlSeconds: 180, values: ['192.0.2.1'] } as const;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const serve = async (answer: Answer) =>
  `http://${await listen(
    createServer((request, response) => {
      request.resume().on('end', () => answer(request, response));
    }),
  )}`;

it('a call that meets an idle connection which the server closes is sent again', async () => {
  const kept = new Set<Socket>();
  const url = await serve(({ socket }, response) => {
    if (kept.has(socket)) return socket.destroy();
    kept.add(socket);
    response.end('{}');
  });
  for (let i = 0; i < 3; i++) expect(await httpCall({ url, signal })).toEqual({ status: 200, body: '{}' });
});

interface HttpProvider {
  readonly driver: ProviderDriver;
  readonly config: (url: string) => string;
  /** Answers until the zone is found; true when the request is answered. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const PROVIDERS: Readonly<Record<string, HttpProvider>> = {
  coredns: {
    driver: coredns,
    config: (url) => `[Global]\netcd-endpoints = ${url}\nzones = ${ZONE}`,
    begin: () => false,
  },
  'google-clouddns': {
    driver: googleCloudDns,
    config: (url) => `[Global]\napi-endpoint = ${url}\nmetadata-endpoint = ${url}\nproject-id = p`,
    begin: ({ url = '' }, response) => {
      if (url.endsWith('/token')) response.end('{"access_token":"t","expires_in":3600}');
      else if (url.includes('/managedZones?'))
        response.end(JSON.stringify({ managedZones: [{ name: 'z', dnsName: ZONE }] }));
      else return false;
      return true;
    },
  },
  'aws-route53': {
    driver: awsRoute53,
    config: (url) => `[Global]\napi-endpoint = ${url}\naccess-key-id = a\nsecret-access-key = b`,
    begin: ({ url = '' }, response) => {
      if (!url.includes('/hostedzonesbyname')) return false;
      const zone = `<HostedZone><Name>${ZONE}</Name><Id>/hostedzone/Z1</Id></HostedZone>`;
      response.end(`<ListResponse><HostedZones>${zone}</HostedZones></ListResponse>`);
      return true;
    },
  },
};

/** The zone of a provider whose server finds it, and answers everything else with `answer`. */
async function zoneOf(name: string, answer: Answer): Promise<DnsZone> {
  const { driver, config, begin } = PROVIDERS[name]!;
  const url = await serve((request, response) => {
    if (!begin(request, response)) answer(request, response);
  });
  const provider = driver.open({ config: config(url), now: () => 0, random: systemRandom });
  return (await provider.zone(ZONE, signal))!;
}

const NONSENSE: readonly string[] = [
  ...[
    '',
    'null',
    '5',
    '"x"',
    '[]',
    '[null]',
    'nonsense',
    '<html><body>Sign in</body></html>',
    '<a',
    '</a>',
    '<?',
    '&#x;',
  ],
  ...['[', '{"a":'].map((part) => part.repeat(100_000)),
];

const WRONG: readonly object[] = [
  ...[{ kvs: 5 }, { kvs: [null] }, { kvs: {} }, { kvs: [{ key: 5, value: {} }] }],
  ...[{ more: true }, { more: true, kvs: [] }, { more: true, kvs: [{ key: 'AA==', value: 'AA==' }] }],
  ...[{ rrsets: 5 }, { rrsets: [null] }, { rrsets: [{ name: 5, type: 'A', rrdatas: 'x' }] }],
  ...[{ rrsets: [{ name: 'a.', type: 'A', rrdatas: [null] }] }, { nextPageToken: {} }],
];

describe.each(Object.keys(PROVIDERS))('%s', (name) => {
  it.each([...NONSENSE, ...WRONG.map((each) => JSON.stringify(each))].map((body) => [body.slice(0, 60), body]))(
    'the answer %j is an error, or says nothing',
    async (_, body) => {
      const zone = await zoneOf(name, (_request, response) => response.end(body));
      const list = await zone.list(signal).catch((error: unknown) => error);
      if (Array.isArray(list))
        for (const { values } of list) expect(values.every((each: unknown) => typeof each === 'string')).toBe(true);
      else expect(list).toBeInstanceOf(DnsError);
      const isObject = body.startsWith('{') && !body.endsWith(':');
      const change = await zone.change({ remove: [], ensure: [RECORD] }, signal).catch((error: unknown) => error);
      if (change !== undefined || !isObject || name === 'aws-route53') expect(change).toBeInstanceOf(DnsError);
    },
  );

  it('pages without an end are an error', async () => {
    let page = 0;
    const zone = await zoneOf(name, (_request, response) => {
      page++;
      const key = Buffer.from(`/skydns/com/example/${String(page).padStart(9, '0')}`).toString('base64');
      const json = { header: { revision: '1' }, kvs: [{ key, value: 'AA==' }], more: true, nextPageToken: `${page}` };
      const xml = `<IsTruncated>true</IsTruncated><NextRecordName>${page}</NextRecordName><NextRecordType>A</NextRecordType>`;
      response.end(name === 'aws-route53' ? `<ListResponse>${xml}</ListResponse>` : JSON.stringify(json));
    });
    await expect(zone.list(signal)).rejects.toMatchObject({ name: 'DnsError', reason: 'Unavailable' });
  });

  it('the connection may be cut at any time, and a body may have no end', async () => {
    const endless = (response: ServerResponse) => {
      if (!response.destroyed) response.write(' '.repeat(1_000_000), () => endless(response));
    };
    for (const answer of [
      ((_, response) => response.destroy()) as Answer,
      (_, response) => response.writeHead(200, { 'content-length': '10' }).write('{', () => response.destroy()),
      (_, response) => endless(response),
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      (_, response) => response.writeHead(500).end('<'.repeat(1_000_000)),
    ] as Answer[]) {
      const zone = await zoneOf(name, answer);
      const error = await zone.list(signal).catch((each: unknown) => each);
      expect(error).toBeInstanceOf(DnsError);
      expect((error as Error).message.length).toBeLessThan(1_000);
    }
  });

  it('many small parts, and texts that take long to parse, are an error soon', async () => {
    for (const body of [
      `{"kvs":[${'{},'.repeat(3_000_000)}{}]}`,
      `<${'a<'.repeat(2_000_000)}`,
      '<a/>'.repeat(2_000_000),
      `<a ${'<b '.repeat(1_000_000)}`,
    ]) {
      const zone = await zoneOf(name, (_request, response) => response.end(body));
      const begun = performance.now();
      await expect(zone.list(signal)).rejects.toBeInstanceOf(DnsError);
      expect(performance.now() - begun).toBeLessThan(2_000);
    }
  });
});

it('google-clouddns asks for one other token when all are refused', async () => {
  let calls = 0;
  const zone = await zoneOf('google-clouddns', (_request, response) => {
    calls++;
    response.writeHead(401).end('{"error":{"message":"Invalid Credentials"}}');
  });
  await expect(zone.list(signal)).rejects.toMatchObject({ name: 'DnsError', reason: 'Forbidden' });
  expect(calls).toBe(2);
});

describe('rfc2136', () => {
  const NAME = nameBytes('example.com');
  const [A, SOA, AAAA] = [1, 6, 28];
  const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);

  function message(id: number, records: readonly Buffer[]): Buffer {
    const header = Buffer.concat([u16(id), u16(0x8400), u16(0), u16(records.length), u16(0), u16(0)]);
    return framed(Buffer.concat([header, ...records]));
  }
  const record = (name: Buffer, type: number, data: Buffer) =>
    Buffer.concat([name, u16(type), u16(1), Buffer.alloc(4), u16(data.length), data]);
  const soa = record(NAME, SOA, Buffer.concat([NAME, NAME, Buffer.alloc(20)]));

  /** Answers the first question, so that the zone is found, and everything else with `answer`. */
  async function zoneOfServer(answer: (socket: Socket, id: number) => void): Promise<DnsZone> {
    let isFound = false;
    const address = await listen(
      createTcpServer((socket) => {
        socket.once('data', (data) => {
          const id = data.readUInt16BE(2);
          if (isFound) return answer(socket, id);
          isFound = true;
          socket.write(message(id, [soa]));
        });
      }),
    );
    const provider = rfc2136.open({ config: `[Global]\nserver = ${address}`, now: () => 0, random: systemRandom });
    return (await provider.zone(ZONE, signal))!;
  }

  it.each<[string, (socket: Socket, id: number) => void]>([
    ['nothing, and a closed connection', (socket) => socket.end()],
    ['half of a message', (socket, id) => socket.end(message(id, [soa]).subarray(0, 20))],
    ['bytes that are no message', (socket) => socket.end(Buffer.alloc(1_000, 255))],
    ['empty messages', (socket) => socket.end(Buffer.alloc(1_000))],
    ['a transfer that does not begin with the zone', (socket, id) => socket.write(message(id, []))],
    [
      'an address of no bytes',
      (socket, id) => socket.write(message(id, [soa, record(nameBytes('a.example.com'), A, Buffer.alloc(0)), soa])),
    ],
    [
      'a short address',
      (socket, id) => socket.write(message(id, [soa, record(nameBytes('a.example.com'), AAAA, Buffer.alloc(3)), soa])),
    ],
  ])('%s is an error', async (_, answer) => {
    const zone = await zoneOfServer(answer);
    await expect(zone.list(signal)).rejects.toBeInstanceOf(DnsError);
  });

  it('a transfer without an end is an error', async () => {
    const zone = await zoneOfServer((socket, id) => {
      const records = Array.from({ length: 1_500 }, () => record(nameBytes('a.example.com'), A, Buffer.alloc(4)));
      const part = Buffer.concat(Array.from({ length: 20 }, () => message(id, records)));
      const more = () => {
        if (!socket.destroyed) socket.write(part, more);
      };
      socket.write(message(id, [soa]), more);
    });
    await expect(zone.list(signal)).rejects.toThrow('the zone has no end');
  });

  it('a name with too many addresses is an error of its own', async () => {
    const zone = await zoneOfServer((socket, id) => socket.write(message(id, [])));
    const values = Array.from({ length: 5_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    await expect(zone.change({ remove: [], ensure: [{ ...RECORD, values }] }, signal)).rejects.toMatchObject({
      ...{ name: 'DnsError', reason: 'Invalid' },
    });
  });
});
