/** Where a load balancer is reached, by its status: addresses or names, each once. */
export function loadBalancerText(status: any): string {
  const ingress: readonly any[] = status?.loadBalancer?.ingress ?? [];
  const points = ingress.map(({ ip, hostname }) => ip || hostname).filter(Boolean);
  return [...new Set<string>(points)].sort().join(',');
}
