import { age, type ColumnList, NONE, name, type Sparse, UNKNOWN, wide } from '../../../columns/column.ts';
import { loadBalancerText } from '../../../columns/load-balancer.ts';
import { labelsText } from '../../../columns/selector.ts';
import type { Service } from './service-fields.ts';

export const serviceColumns: ColumnList<Service> = ({ text }) => [
  name,
  text('Type', 'Type of the service.', ({ spec }) => spec?.type ?? ''),
  text('Cluster-IP', 'IP address of the service inside the cluster.', ({ spec }) => spec?.clusterIPs?.[0] ?? NONE),
  text('External-IP', 'Addresses of the service outside the cluster.', externalAddress),
  text('Port(s)', 'Ports of the service, with their node ports.', portsText),
  age,
  wide(text('Selector', 'Labels of the pods that receive the traffic.', ({ spec }) => labelsText(spec?.selector))),
];

function externalAddress({ spec, status }: Sparse<Service>): string {
  const addresses = spec?.externalIPs ?? [];
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

function portsText({ spec }: Sparse<Service>): string {
  const ports = spec?.ports ?? [];
  const texts = ports.map(
    ({ port, nodePort, protocol }) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol ?? ''}`,
  );
  return texts.join(',') || NONE;
}
