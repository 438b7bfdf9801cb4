/** DNS providers that `--dns-provider` can name. They have their own file, because loading the providers takes time. */
export const DNS_PROVIDERS = ['coredns', 'rfc2136', 'google-clouddns', 'aws-route53'] as const;

export type DnsProviderName = (typeof DNS_PROVIDERS)[number];
