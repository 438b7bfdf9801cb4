import type { Sparse } from './column.ts';

interface Status {
  loadBalancer?: { ingress?: readonly { ip?: string; hostname?: string }[] };
}

/** The addresses or names of a load balancer by its status, each once. */
export function loadBalancerText(status: Sparse<Status> | undefined): string {
  const points = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || []);
  return [...new Set(points)].sort().join(',');
}
