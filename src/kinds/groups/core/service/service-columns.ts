import { age, type Column, NONE, name, text, UNKNOWN, wide } from '../../../columns/column.ts';
import { loadBalancerText } from '../../../columns/load-balancer.ts';
import { labelsText } from '../../../columns/selector.ts';

export const serviceColumns: readonly Column[] = [
  name,
  text('Type', 'Type of the service.', ({ spec }) => spec?.type ?? ''),
  text('Cluster-IP', 'IP address of the service inside the cluster.', ({ spec }) => spec?.clusterIPs?.[0] ?? NONE),
  text('External-IP', 'Addresses of the service outside the cluster.', externalAddress),
  text('Port(s)', 'Ports of the service, with their node ports.', portsText),
  age,
  wide(text('Selector', 'Labels of the pods that receive the traffic.', ({ spec }) => labelsText(spec?.selector))),
];

function externalAddress({ spec, status }: any): string {
  const addresses: readonly string[] = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return addresses.join(',') || NONE;
    case 'LoadBalancer':
      return [loadBalancerText(status), ...addresses].filter(Boolean).join(',') || '<pending>';
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return UNKNOWN;
  }
}

function portsText({ spec }: any): string {
  const ports: readonly any[] = spec?.ports ?? [];
  const texts = ports.map(
    ({ port, nodePort, protocol }) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol ?? ''}`,
  );
  return texts.join(',') || NONE;
}
