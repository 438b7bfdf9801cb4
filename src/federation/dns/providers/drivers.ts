/** Loads the implementation of a DNS provider: a federation uses one at most. */
import type { DnsProviderName, ProviderDriver } from '../provider.ts';

export async function loadDnsProvider(name: DnsProviderName): Promise<ProviderDriver> {
  switch (name) {
    case 'coredns':
      return (await import('./coredns/driver.ts')).coredns;
    case 'rfc2136':
      return (await import('./rfc2136/driver.ts')).rfc2136;
    case 'google-clouddns':
      return (await import('./google-clouddns/driver.ts')).googleCloudDns;
    case 'aws-route53':
      return (await import('./aws-route53/driver.ts')).awsRoute53;
  }
}
