/** Where an Ingress can be reached. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { ipFamily, ipProblems } from '../../shapes/meta/ip-address.ts';

const IngressPortStatus = s.object('IngressPortStatus', {
  port: s.int32({ zero: true }),
  protocol: s.string({ zero: true }),
  error: s.string({ description: 'Why the port cannot be reached, in one CamelCase word.' }),
});

const IngressLoadBalancerIngress = s.object('IngressLoadBalancerIngress', {
  ip: s.string({ omitZero: true, rules: [matches(ipProblems)] }),
  hostname: s.string({ omitZero: true, rules: [matches(dnsSubdomain), isName] }),
  ports: s.list(IngressPortStatus),
});

export const IngressStatus = s.object('IngressStatus', {
  loadBalancer: s.object(
    'IngressLoadBalancerStatus',
    { ingress: s.list(IngressLoadBalancerIngress, { description: 'The addresses or names that lead to it.' }) },
    { default: {} },
  ),
});

export function isName(host: string): FieldError | undefined {
  return ipFamily(host) ? invalid('', host, 'must be a DNS name, not an IP address') : undefined;
}
