/** The DNS providers that `--dns-provider` can name: the one list. */
import type { ProviderDriver } from '../provider.ts';
import { awsRoute53 } from './aws-route53/driver.ts';
import { coredns } from './coredns/driver.ts';
import { googleCloudDns } from './google-clouddns/driver.ts';
import { rfc2136 } from './rfc2136/driver.ts';

export const dnsProviders: readonly ProviderDriver[] = [coredns, rfc2136, googleCloudDns, awsRoute53];
