/** The status of an Ingress. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { ipFamily, ipProblems } from '../../shapes/meta/addresses/ip-address.ts';

const IngressPortStatus = s.object(
  'IngressPortStatus',
  {
    port: s.int32({ zero: true, description: 'Port number of the load balancer.' }),
    protocol: s.string({ zero: true, description: 'Protocol of the port: TCP, UDP or SCTP.' }),
    error: s.string({
      description:
        'Reason why the port does not work, in one CamelCase word, with a domain prefix unless it is a built-in one.',
    }),
  },
  { description: 'State of a port of a load balancer.' },
);

const IngressLoadBalancerIngress = s.object(
  'IngressLoadBalancerIngress',
  {
    ip: s.string({
      omitZero: true,
      rules: [matches(ipProblems)],
      description: 'IP address of the load balancer, where it is reached by address.',
    }),
    hostname: s.string({
      omitZero: true,
      rules: [matches(dnsSubdomain), isDnsName],
      description: 'DNS name of the load balancer, where it is reached by name.',
    }),
    ports: s.list(IngressPortStatus, { description: 'State of each port of the load balancer.' }),
  },
  { description: 'An address or name under which a load balancer is reached.' },
);

export const IngressStatus = s.object(
  'IngressStatus',
  {
    loadBalancer: s.object(
      'IngressLoadBalancerStatus',
      {
        ingress: s.list(IngressLoadBalancerIngress, {
          description: 'Addresses and names under which the load balancer is reached.',
        }),
      },
      { default: {}, description: 'State of the load balancer.' },
    ),
  },
  { description: 'Most recently observed state of an Ingress, written by its controller.' },
);

export function isDnsName(host: string): FieldError | undefined {
  return ipFamily(host) ? invalid('', host, 'must be a DNS name, not an IP address') : undefined;
}
