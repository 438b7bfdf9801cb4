/** Where the names of federated services are published, as the flags say. */
import { lookup } from 'node:dns/promises';
import type { DnsPublication } from '../../../federation/controllers/service-dns/service-dns.ts';
import { CliError } from '../../output/cli-error.ts';
import { openDnsProvider, readDnsConfig } from '../dns-provider.ts';
import type { FederationManagerFlags } from './flags.ts';

type DnsFlags = Pick<
  FederationManagerFlags,
  'dnsProvider' | 'dnsProviderConfig' | 'zoneName' | 'serviceDnsSuffix' | 'federationName'
>;

/** Undefined: they are not published. */
export async function dnsPublication(flags: DnsFlags): Promise<DnsPublication | undefined> {
  const { dnsProvider, dnsProviderConfig, zoneName, serviceDnsSuffix, federationName } = flags;
  if (dnsProvider === undefined) return undefined;
  if (!zoneName || !federationName) {
    throw new CliError('--dns-provider needs --zone-name and --federation-name');
  }
  const zone = absolute(zoneName);
  const domain = absolute(serviceDnsSuffix ?? zoneName);
  if (domain !== zone && !domain.endsWith(`.${zone}`)) {
    throw new CliError(`--service-dns-suffix ${serviceDnsSuffix} is not in the zone ${zone}`);
  }
  const config = dnsProviderConfig === undefined ? undefined : await readDnsConfig(dnsProviderConfig);
  return {
    provider: await openDnsProvider(dnsProvider, zone, config),
    zone,
    domain,
    federation: federationName,
    resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
  };
}

const absolute = (name: string) => `${name.toLowerCase().replace(/\.$/, '')}.`;
