/** The providers of cloud services, on fakes of their APIs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import type { RecordSet } from '../../src/federation/dns/provider.ts';
import { awsRoute53 } from '../../src/federation/dns/providers/aws-route53/driver.ts';
import { googleCloudDns } from '../../src/federation/dns/providers/google-clouddns/driver.ts';
import { describeDnsProvider } from '../support/federation/dns-contract.ts';
import { FakeCloudDns } from '../support/federation/fake-cloud-dns.ts';
import { FakeRoute53 } from '../support/federation/fake-route53.ts';

const ZONE = 'example.com.';
const { signal } = new AbortController();
const MANY = Array.from(
  { length: 1_200 },
  (_, index): RecordSet => ({
    ...{
      name: `web-${index}.example.com.`,
      type: 'A',
      ttlSeconds: 180,
      values: [`192.0.${index >> 8}.${index & 255}`],
    },
  }),
);

describe('google-clouddns', () => {
  let google: FakeCloudDns;
  let time = Date.UTC(2030, 0, 1);
  beforeAll(async () => {
    google = await FakeCloudDns.start();
  });
  afterAll(() => google.close());
  const open = (config: string | undefined) => googleCloudDns.open({ config, now: () => time, random: systemRandom });
  const config = () =>
    `[Global]\napi-endpoint = ${google.url}\nservice-account-key = ${Buffer.from(google.key()).toString('base64')}`;

  describeDnsProvider('the provider google-clouddns', () => ({ provider: open(config()), zone: ZONE }));

  it('asks for a token once, until it ends', async () => {
    const before = google.tokens;
    const provider = open(config());
    await provider.zone(ZONE, signal);
    await provider.zone(ZONE, signal);
    expect(google.tokens).toBe(before + 1);
    time += 3_600_000;
    await provider.zone(ZONE, signal);
    expect(google.tokens).toBe(before + 2);
  });

  it('asks for another token when Google rejects the one that it has', async () => {
    const provider = open(config());
    const zone = (await provider.zone(ZONE, signal))!;
    const before = google.tokens;
    google.revokeTokens();
    const record: RecordSet = { name: `new.${ZONE}`, type: 'A', ttlSeconds: 180, values: ['192.0.2.1'] };
    await zone.change({ remove: [], ensure: [record] }, signal);
    google.revokeTokens();
    expect((await Promise.all([zone.list(signal), zone.list(signal)])).flat()).toEqual([record, record]);
    await zone.change({ remove: [record], ensure: [] }, signal);
    expect(google.tokens - before).toBeGreaterThanOrEqual(2);
  });

  it('has the account of the machine without a configuration of its own', async () => {
    const provider = open(`[Global]\napi-endpoint = ${google.url}\nmetadata-endpoint = ${google.url}`);
    expect((await provider.zone(ZONE, signal))?.name).toBe(ZONE);
  });

  it('the public zone is used, unless another one is named', async () => {
    await (await open(config()).zone(ZONE, signal))!.list(signal);
    expect(google.calls.at(-1)).toContain('/managedZones/public-zone/rrsets');
    const other = (await open(`${config()}\nmanaged-zone = private-zone`).zone(ZONE, signal))!;
    await expect(other.list(signal)).rejects.toThrow('404');
    expect(google.calls.at(-1)).toContain('/managedZones/private-zone/rrsets');
    expect(await open(`${config()}\nmanaged-zone = none`).zone(ZONE, signal)).toBeUndefined();
  });

  it('changes of many records take several calls', async () => {
    const zone = (await open(config()).zone(ZONE, signal))!;
    google.pageSize = 500;
    const before = google.calls.length;
    await zone.change({ remove: [], ensure: MANY }, signal);
    expect(google.calls.slice(before).filter((call) => call.startsWith('POST'))).toHaveLength(3);
    await zone.change({ remove: MANY, ensure: [] }, signal);
    expect(await zone.list(signal)).toEqual([]);
  });

  it('the key of another account is rejected by Google', async () => {
    const other = await FakeCloudDns.start();
    const stolen = other.key({ token_uri: `${google.url}/token` });
    await other.close();
    await expect(open(stolen).zone(ZONE, signal)).rejects.toMatchObject({
      ...{ reason: 'Forbidden', message: expect.stringContaining('Invalid JWT Signature.') },
    });
  });

  it.each([
    [403, 'rateLimitExceeded', 'Unavailable'],
    [403, 'forbidden', 'Forbidden'],
    [503, 'backendError', 'Unavailable'],
    [412, 'conditionNotMet', 'Unavailable'],
    [400, 'invalid', 'Invalid'],
  ])('the answer %i %s means %s', async (status, reason, meaning) => {
    google.failOnce(status, reason);
    await expect(open(config()).zone(ZONE, signal)).rejects.toMatchObject({ name: 'DnsError', reason: meaning });
  });

  it.each([
    ['{', 'the key is not JSON'],
    ['{"type": "authorized_user"}', 'the file is not the key of a service account'],
    ['{"type": "service_account"}', 'client_email or private_key is missing'],
    ['{"type": "service_account", "client_email": "a", "private_key": "b"}', 'private_key cannot be read'],
    ['[Global]\nproject = a', 'the key "project" is unknown'],
  ])('%j is rejected', (text, message) => {
    expect(() => open(text)).toThrow(message);
  });
});

describe('aws-route53', () => {
  let aws: FakeRoute53;
  beforeAll(async () => {
    aws = await FakeRoute53.start();
  });
  afterAll(() => aws.close());
  const open = (config: string | undefined) => awsRoute53.open({ config, now: aws?.now, random: systemRandom });

  describeDnsProvider('the provider aws-route53', () => ({ provider: open(aws.config()), zone: ZONE }));

  it('has the role of the machine without keys of its own', async () => {
    const provider = open(`[Global]\napi-endpoint = ${aws.url}\nmetadata-endpoint = ${aws.url}`);
    const before = aws.calls.length;
    await provider.zone(ZONE, signal);
    expect((await provider.zone(ZONE, signal))?.name).toBe(ZONE);
    expect(aws.calls.slice(before).filter((call) => call.includes('/latest/'))).toHaveLength(3);
  });

  it('the public zone is used, unless another one is named', async () => {
    await (await open(aws.config()).zone(ZONE, signal))!.list(signal);
    expect(aws.calls.at(-1)).toContain('/hostedzone/Z1PUBLIC/rrset');
    const other = (await open(aws.config({ 'hosted-zone-id': '/hostedzone/Z0PRIVATE' })).zone(ZONE, signal))!;
    await expect(other.list(signal)).rejects.toThrow('NoSuchHostedZone');
  });

  it('changes of many records take several batches', async () => {
    const zone = (await open(aws.config()).zone(ZONE, signal))!;
    aws.pageSize = 500;
    const before = aws.calls.length;
    await zone.change({ remove: [], ensure: MANY }, signal);
    expect(aws.calls.slice(before).filter((call) => call.startsWith('POST'))).toHaveLength(3);
    await zone.change({ remove: MANY, ensure: [] }, signal);
    expect(await zone.list(signal)).toEqual([]);
  });

  it('a wrong secret is rejected', async () => {
    await expect(open(aws.config({ 'secret-access-key': 'other' })).zone(ZONE, signal)).rejects.toMatchObject({
      ...{ reason: 'Forbidden', message: expect.stringContaining('SignatureDoesNotMatch') },
    });
  });

  it.each([
    [400, 'Throttling', 'Unavailable'],
    [400, 'PriorRequestNotComplete', 'Unavailable'],
    [403, 'AccessDenied', 'Forbidden'],
    [500, 'InternalFailure', 'Unavailable'],
    [400, 'InvalidInput', 'Invalid'],
  ])('the answer %i %s means %s', async (status, code, meaning) => {
    aws.failOnce(status, code);
    await expect(open(aws.config()).zone(ZONE, signal)).rejects.toMatchObject({ name: 'DnsError', reason: meaning });
  });

  it('a key without its secret is rejected', () => {
    expect(() => open('[Global]\naccess-key-id = a')).toThrow(
      'the key "secret-access-key" of the section [Global] is required',
    );
  });
});
