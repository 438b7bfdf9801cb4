import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { rfc2136 } from '../../src/federation/dns/providers/rfc2136/driver.ts';
import { bindMissing, TestBind } from '../support/federation/bind.ts';
import { describeDnsProvider } from '../support/federation/dns-contract.ts';

const ZONE = 'example.com.';
const missing = bindMissing();
if (missing) console.log(missing);
const { signal } = new AbortController();

/** Returns the time like Date.now(), for signatures that a real server checks. */
const now = () => performance.timeOrigin + performance.now();
const open = (config: string) => rfc2136.open({ config, now, random: systemRandom });

describe.skipIf(missing)('rfc2136 with BIND 9', () => {
  let bind: TestBind;
  beforeAll(async () => {
    bind = await TestBind.start({ zone: ZONE });
  });
  afterAll(() => bind?.stop());

  describeDnsProvider('the provider rfc2136', () => ({ provider: open(bind.config()), zone: ZONE }));

  it('resolvers see what was published, with its lifetime', async () => {
    const zone = (await open(bind.config()).zone(ZONE, signal))!;
    const record = {
      name: 'web.example.com.',
      type: 'A',
      ttlSeconds: 180,
      values: ['192.0.2.1', '192.0.2.2'],
    } as const;
    const alias = { name: 'a.example.com.', type: 'CNAME', ttlSeconds: 180, values: [record.name] } as const;
    await zone.change({ remove: [], ensure: [record, alias] }, signal);
    expect(bind.dig('web.example.com')).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(bind.dig('a.example.com')).toEqual(['192.0.2.1', '192.0.2.2', 'web.example.com.']);
    await zone.change({ remove: [record, alias], ensure: [] }, signal);
    expect(bind.dig('a.example.com')).toEqual([]);
  });

  it('a zone that takes many messages to transfer is read and written whole', async () => {
    const zone = (await open(bind.config()).zone(ZONE, signal))!;
    const records = Array.from({ length: 3_000 }, (_, index) => ({
      name: `web.shop-${index}.fed.svc.zone-of-a-long-name.region-of-a-long-name.example.com.`,
      ...{ type: 'A', ttlSeconds: 180, values: [`192.0.${index >> 8}.${index & 255}`] },
    })) as never;
    await zone.change({ remove: [], ensure: records }, signal);
    const listed = await zone.list(signal);
    expect(listed).toHaveLength(3_000);
    await zone.change({ remove: listed, ensure: [] }, signal);
    expect(await zone.list(signal)).toEqual([]);
  });

  it.each([
    ['another secret', { 'tsig-secret': Buffer.from('another one').toString('base64') }, 'BADSIG'],
    ['an unknown key', { 'tsig-key-name': 'other.key' }, 'BADKEY'],
  ])('%s is rejected', async (_, changes, message) => {
    await expect(open(bind.config(changes)).zone(ZONE, signal)).rejects.toMatchObject({
      ...{ name: 'DnsError', reason: 'Forbidden', message: expect.stringContaining(message) },
    });
  });

  it('a clock that is wrong is said', async () => {
    const provider = rfc2136.open({ config: bind.config(), now: () => now() - 3_600_000, random: systemRandom });
    await expect(provider.zone(ZONE, signal)).rejects.toThrow('BADTIME');
  });

  it('updates and transfers without a key are rejected', async () => {
    const zone = (await open(`[Global]\nserver = 127.0.0.1:${bind.port}`).zone(ZONE, signal))!;
    await expect(zone.list(signal)).rejects.toMatchObject({ reason: 'Forbidden' });
    const removal = { remove: [{ name: 'x.example.com.', type: 'A' }] as const, ensure: [] };
    await expect(zone.change(removal, signal)).rejects.toMatchObject({ reason: 'Forbidden' });
  });

  it.each(['hmac-md5', 'hmac-sha1', 'hmac-sha224', 'hmac-sha384', 'hmac-sha512'])(
    'signs with %s',
    async (algorithm) => {
      const other = await TestBind.start({ zone: 'example.org.', algorithm });
      try {
        const zone = (await open(other.config()).zone('example.org.', signal))!;
        expect(await zone.list(signal)).toEqual([]);
      } finally {
        await other.stop();
      }
    },
  );
});

it('a server that does not answer is unavailable', async () => {
  await expect(open('[Global]\nserver = 127.0.0.1:1').zone(ZONE, signal)).rejects.toMatchObject({
    ...{ name: 'DnsError', reason: 'Unavailable' },
  });
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(open('[Global]\nserver = 127.0.0.1:1').zone(ZONE, aborted)).rejects.toThrow('enough');
});

it.each([
  ['', 'the key "server" of the section [Global] is required'],
  ['server = a:b:c', 'server: "a:b:c" is not an address'],
  ['server = ns.test\ntsig-key-name = k', 'the key "tsig-secret" of the section [Global] is required'],
  ['server = ns.test\ntsig-key-name = k\ntsig-secret = %', 'tsig-secret: the value is not base64'],
  ['server = ns.test\ntsig-key-name = k\ntsig-secret = YQ==\ntsig-algorithm = x', '"x" is unknown; known: hmac-md5,'],
])('%j is rejected', (lines, message) => {
  expect(() => open(`[Global]\n${lines}`)).toThrow(message);
});
