import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, under } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, type Sparse } from '../../columns/column.ts';
import { loadBalancerText } from '../../columns/load-balancer.ts';
import { longList } from '../../columns/long-list.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { ipFamily, ipProblems } from '../../shapes/meta/addresses/ip-address.ts';
import { loadBalancerWarnings } from '../../warnings/load-balancer.ts';
import { backendProblems, IngressBackend } from './ingress-backend.ts';
import { CLASS_ANNOTATION, keepHostTimes, startHostTimes } from './ingress-host-times.ts';

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

const IngressStatus = s.object(
  'IngressStatus',
  'Most recently observed state of an Ingress, written by its controller.',
  {
    loadBalancer: s.struct('IngressLoadBalancerStatus', 'State of the load balancer.', {
      ingress: s.list(IngressLoadBalancerIngress, 'Addresses and names under which the load balancer is reached.'),
    }),
  },
);

const pathFields = {
  path: s.string(
    'Path to compare with that of the request, interpreted as pathType says. Must start with a slash; required for Exact and Prefix.',
    { omitZero: true },
  ),
  pathType: s.enum(
    ['Exact', 'ImplementationSpecific', 'Prefix'],
    '`Exact` matches the same path only, case-sensitively; `Prefix` matches path elements from the start, so that /a matches /a/b but not /ab; `ImplementationSpecific` leaves the interpretation to the controller. Required.',
    { required: 'pathType must be specified' },
  ),
  backend: s.use(IngressBackend, 'Where matching requests are sent to.', { zero: true }),
};

const HTTPIngressRuleValue = s.object('HTTPIngressRuleValue', "Backends by path, for requests to the rule's host.", {
  paths: s.list(
    s.object('HTTPIngressPath', 'Sends requests for a path to a backend.', pathFields, { rules: [path] }),
    'Paths and their backends. At least one is required; if several match, the longest one wins.',
    { required: true },
  ),
});

const IngressRule = s.object('IngressRule', 'Routes requests for a host.', {
  host: s.string(
    'Host name that requests must be for. `*.example.com` matches exactly one label in place of the star; IP addresses and ports are not allowed. Without it the rule applies to all hosts.',
    { omitZero: true, rules: [isDnsName, matches(hostProblems)] },
  ),
  http: HTTPIngressRuleValue,
});

const IngressTLS = s.object('IngressTLS', 'A TLS certificate and the hosts it is for.', {
  hosts: s.list(
    s.string({ rules: [matches(hostProblems)] }),
    'Host names the certificate is used for. They should match the names in the certificate. Without any, it is used for all hosts.',
  ),
  secretName: s.string(
    'Name of a Secret of type kubernetes.io/tls with the certificate and its private key, in the namespace of the Ingress.',
    { omitZero: true, rules: [matches(dnsSubdomain)] },
  ),
});

const specFields = {
  defaultBackend: s.use(IngressBackend, 'Backend for requests that no rule matches. Required if there are no rules.', {
    rules: [backendProblems],
  }),
  rules: s.list(IngressRule, 'Routing by host and path. Without rules, all requests go to defaultBackend.'),
  tls: s.list(IngressTLS, 'Certificates for HTTPS, chosen by host name. Without any, only HTTP is served.'),
  ingressClassName: s.string(
    "Name of the IngressClass that implements this Ingress. Without it, the cluster's default class is used. Cannot be combined with the annotation kubernetes.io/ingress.class at creation.",
  ),
};

const fields = {
  spec: s.struct('IngressSpec', 'Desired routing.', specFields, { rules: [hasBackend] }),
  status: s.use(IngressStatus, 'Most recently observed state of the Ingress, written by its controller.', {
    default: {},
  }),
};

export type Ingress = KubeObject & ObjectType<typeof fields>;

/** Routes HTTP requests from outside the cluster to Services. */
export const Ingress = defineKind({
  kind: 'Ingress',
  plural: 'ingresses',
  short: ['ing'],
  scope: 'Namespaced',
  description:
    'Routes HTTP and HTTPS requests from outside the cluster to Services, by host name and path, and can terminate TLS. It has an effect only if a controller for its class is running.',
  versions: { 'networking.k8s.io/v1': {} },
  fields,
  subresources: { status: true },
  generation: true,
  initialStatus: () => ({ loadBalancer: {} }),
  onCreate: startHostTimes,
  onUpdate: keepHostTimes,
  onStatusUpdate: (ingress, old) => keepHostTimes(ingress, old, { now: '' }),
  rules: [oneClass],
  warnings: (ingress, old) => (old ? [] : classWarnings(ingress)),
  statusWarnings: loadBalancerWarnings,
  columns: ({ text }) => [
    name,
    text('Class', 'The class that implements the Ingress.', ({ spec }) => spec?.ingressClassName ?? NONE),
    text('Hosts', 'Host names in the rules.', hostsText),
    text('Address', 'Address of the load balancer.', ({ status }) => loadBalancerText(status)),
    text('Ports', 'Ports that are served.', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
    age,
  ],
});

const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenEnds = ['/..', '/.'];

/** Paths of type Exact and Prefix must be unambiguous. */
function path({ path: text = '', pathType, backend }: ObjectType<typeof pathFields>): FieldError[] {
  if (!pathType) return [];
  const found: FieldError[] = [];
  const say = (detail: string) => found.push(invalid('path', text, detail));
  const literal = pathType === 'Exact' || pathType === 'Prefix';
  if (!text.startsWith('/') && (literal || (text && pathType === 'ImplementationSpecific')))
    say('must be an absolute path');
  if (literal) {
    for (const part of forbiddenParts) if (text.includes(part)) say(`must not contain '${part}'`);
    for (const end of forbiddenEnds) if (text.endsWith(end)) say(`cannot end with '${end}'`);
  }
  return [...found, ...under('backend', backendProblems(backend))];
}

function hasBackend({ rules, defaultBackend, ingressClassName: name }: ObjectType<typeof specFields>): FieldError[] {
  const found = name === undefined ? [] : dnsSubdomain(name).map((each) => invalid('ingressClassName', name, each));
  if (!rules && !defaultBackend) {
    found.push(invalid('', null, 'either `defaultBackend` or `rules` must be specified'));
  }
  return found;
}

function oneClass({ metadata, spec }: Ingress, { operation }: RuleContext): FieldError[] {
  const annotation = metadata.annotations?.[CLASS_ANNOTATION];
  if (operation !== 'create' || annotation === undefined || spec.ingressClassName === undefined) return [];
  if (annotation === spec.ingressClassName) return [];
  const detail = 'must match `ingressClassName` when both are specified';
  return [invalid(`annotations.${CLASS_ANNOTATION}`, annotation, detail)];
}

function hostsText({ spec }: Sparse<Ingress>): string {
  const rules = spec?.rules ?? [];
  return longList(rules.flatMap(({ host }) => host || [])) || '*';
}

function classWarnings({ metadata, spec }: Ingress): string[] {
  if (metadata.annotations?.[CLASS_ANNOTATION] === undefined || spec?.ingressClassName !== undefined) return [];
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
}

const PATTERN = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const pattern = new RegExp(`^${PATTERN}$`);
const MAX_LENGTH = 253;

function hostProblems(host: string): string[] {
  if (!host.includes('*')) return dnsSubdomain(host);
  const problems = host.length > MAX_LENGTH ? [`must be no more than ${MAX_LENGTH} characters`] : [];
  if (!pattern.test(host)) {
    problems.push(
      `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${PATTERN}')`,
    );
  }
  return problems;
}

function isDnsName(host: string): FieldError | undefined {
  return ipFamily(host) ? invalid('', host, 'must be a DNS name, not an IP address') : undefined;
}
