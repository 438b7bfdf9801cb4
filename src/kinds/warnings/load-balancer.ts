import { ipWarnings } from './addresses.ts';

interface Balanced {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/** Warnings about the addresses of a load balancer. */
export function loadBalancerWarnings({ status }: Balanced): string[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  return ingress.flatMap(({ ip }, index) => (ip ? ipWarnings(`status.loadBalancer.ingress[${index}]`, ip) : []));
}
