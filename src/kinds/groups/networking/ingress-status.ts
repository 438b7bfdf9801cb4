/** The status of an Ingress. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { ipFamily, ipProblems } from '../../shapes/meta/addresses/ip-address.ts';

const IngressPortStatus = s.object('IngressPortStatus', 'State of a port of a load balancer.', {
  port: s.int32('Port number of the load balancer.', { zero: true }),
  protocol: s.string('Protocol of the port: TCP, UDP or SCTP.', { zero: true }),
  error: s.string(
    'Reason why the port does not work, in one CamelCase word, with a domain prefix unless it is a built-in one.',
  ),
});

const IngressLoadBalancerIngress = s.object(
  'IngressLoadBalancerIngress',
  'An address or name under which a load balancer is reached.',
  {
    ip: s.string('IP address of the load balancer, where it is reached by address.', {
      omitZero: true,
      rules: [matches(ipProblems)],
    }),
    hostname: s.string('DNS name of the load balancer, where it is reached by name.', {
      omitZero: true,
      rules: [matches(dnsSubdomain), isDnsName],
    }),
    ports: s.list(IngressPortStatus, 'State of each port of the load balancer.'),
  },
);

export const IngressStatus = s.object(
  'IngressStatus',
  'Most recently observed state of an Ingress, written by its controller.',
  {
    loadBalancer: s.struct('IngressLoadBalancerStatus', 'State of the load balancer.', {
      ingress: s.list(IngressLoadBalancerIngress, 'Addresses and names under which the load balancer is reached.'),
    }),
  },
);

export function isDnsName(host: string): FieldError | undefined {
  return ipFamily(host) ? invalid('', host, 'must be a DNS name, not an IP address') : undefined;
}
