/** The implementations of the DNS providers. */
import type { ProviderDriver } from '../provider.ts';
import type { DnsProviderName } from '../provider-names.ts';
import { awsRoute53 } from './aws-route53/driver.ts';
import { coredns } from './coredns/driver.ts';
import { googleCloudDns } from './google-clouddns/driver.ts';
import { rfc2136 } from './rfc2136/driver.ts';

export const dnsProviders: Readonly<Record<DnsProviderName, ProviderDriver>> = {
  coredns,
  rfc2136,
  'google-clouddns': googleCloudDns,
  'aws-route53': awsRoute53,
};
