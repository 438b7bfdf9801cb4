import { expect, it } from 'vitest';
import { dnsPublication } from './dns.ts';

const FLAGS = {
  ...{ dnsProvider: 'aws-route53', dnsProviderConfig: undefined, federationName: 'fed' },
  ...{ zoneName: 'Example.com', serviceDnsSuffix: undefined },
} as Parameters<typeof dnsPublication>[0];

it('names are published to the zone, or to a domain in it', async () => {
  expect(await dnsPublication({ ...FLAGS, dnsProvider: undefined })).toBeUndefined();
  const published = { federation: 'fed', zone: 'example.com.' };
  expect(await dnsPublication(FLAGS)).toMatchObject({ ...published, domain: 'example.com.' });
  const inside = await dnsPublication({ ...FLAGS, serviceDnsSuffix: 'fed.example.com.' });
  expect(inside).toMatchObject({ ...published, domain: 'fed.example.com.' });
});

it('CoreDNS needs no configuration: it serves the zone', async () => {
  const { provider } = (await dnsPublication({ ...FLAGS, dnsProvider: 'coredns' })) ?? {};
  expect(await provider?.zone('example.com.', new AbortController().signal)).toBeDefined();
});

it.each([
  [{ zoneName: undefined }, '--dns-provider needs --zone-name and --federation-name'],
  [{ federationName: undefined }, '--dns-provider needs --zone-name and --federation-name'],
  [{ serviceDnsSuffix: 'fed.test' }, '--service-dns-suffix fed.test is not in the zone example.com.'],
  [{ dnsProvider: 'x' }, '--dns-provider x is unknown; known: coredns, rfc2136, google-clouddns, aws-route53'],
  [{ dnsProvider: 'rfc2136' }, '--dns-provider-config (none was given): the key "server"'],
  [{ dnsProviderConfig: '/none' }, '--dns-provider-config /none cannot be used: it does not exist'],
])('%j is rejected', async (changes, message) => {
  await expect(dnsPublication({ ...FLAGS, ...changes } as typeof FLAGS)).rejects.toThrow(message);
});
