/** DNS providers that `--dns-provider` can name. Their implementations are loaded by `providers/drivers.ts`. */
export const DNS_PROVIDERS = ['coredns', 'rfc2136', 'google-clouddns', 'aws-route53'] as const;

export type DnsProviderName = (typeof DNS_PROVIDERS)[number];
