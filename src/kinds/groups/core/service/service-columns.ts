import { age, type Column, NONE, name, text, UNKNOWN, wide } from '../../../columns/column.ts';
import { loadBalancerText } from '../../../columns/load-balancer.ts';
import { labelsText } from '../../../columns/selector.ts';

export const serviceColumns: readonly Column[] = [
  name,
  text('Type', 'How the service is reached.', ({ spec }) => spec?.type ?? ''),
  text('Cluster-IP', 'Its address inside the cluster.', ({ spec }) => spec?.clusterIPs?.[0] ?? NONE),
  text('External-IP', 'Where it is reached from outside the cluster.', externalAddress),
  text('Port(s)', 'Its ports, each with the port on the nodes where it has one.', portsText),
  age,
  wide(text('Selector', 'Which pods stand behind it.', ({ spec }) => labelsText(spec?.selector))),
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
