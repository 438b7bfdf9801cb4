import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, under } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, text } from '../../columns/column.ts';
import { loadBalancerText } from '../../columns/load-balancer.ts';
import { longList } from '../../columns/long-list.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { loadBalancerWarnings } from '../../warnings/load-balancer.ts';
import { backendProblems, IngressBackend } from './ingress-backend.ts';
import { IngressStatus, isName } from './ingress-status.ts';
import { hostProblems } from './wildcard-host.ts';

/** The older way to name the class. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

const pathFields = {
  path: s.string({ omitZero: true, description: 'What is compared with the path of a request; begins with a slash.' }),
  pathType: s.enum(['Exact', 'ImplementationSpecific', 'Prefix'], {
    required: 'pathType must be specified',
    description:
      'Exact wants the same path; Prefix compares step by step, from the start; ImplementationSpecific leaves it to the class.',
  }),
  backend: s.use(IngressBackend, { zero: true, description: 'Where such requests go.' }),
};

const HTTPIngressRuleValue = s.object('HTTPIngressRuleValue', {
  paths: s.list(s.object('HTTPIngressPath', pathFields, { rules: [path] }), {
    required: true,
    description: 'Where requests go, by their paths.',
  }),
});

const IngressRule = s.object('IngressRule', {
  host: s.string({
    omitZero: true,
    description: 'The host that requests name; `*.example.com` is any one step in front. Without it, every host.',
    rules: [isName, matches(hostProblems)],
  }),
  http: HTTPIngressRuleValue,
});

const IngressTLS = s.object('IngressTLS', {
  hosts: s.list(s.string({ rules: [matches(hostProblems)] }), { description: 'The hosts the certificate is for.' }),
  secretName: s.string({
    omitZero: true,
    description: 'The Secret with the certificate and its key.',
    rules: [matches(dnsSubdomain)],
  }),
});

const specFields = {
  defaultBackend: s.use(IngressBackend, {
    description: 'Where requests go that no rule is for.',
    rules: [backendProblems],
  }),
  rules: s.list(IngressRule, { description: 'Where requests go, by their host and path.' }),
  tls: s.list(IngressTLS, { description: 'The certificates for HTTPS, by host.' }),
  ingressClassName: s.string({ description: 'The IngressClass that serves it; the default one where absent.' }),
};

const fields = {
  spec: s.object('IngressSpec', specFields, { default: {}, rules: [leadsSomewhere] }),
  status: s.use(IngressStatus, { default: {} }),
};

export type Ingress = KubeObject & ObjectType<typeof fields>;

/** Brings HTTP from outside to services. */
export const Ingress = defineKind({
  group: 'networking.k8s.io',
  kind: 'Ingress',
  plural: 'ingresses',
  short: ['ing'],
  scope: 'Namespaced',
  description: 'Brings HTTP requests from outside to services, by host and path, and ends their TLS.',
  versions: { 'networking.k8s.io/v1': {} },
  fields,
  subresources: { status: true },
  generation: true,
  initialStatus: () => ({ loadBalancer: {} }),
  rules: [oneClass],
  warnings: (ingress, old) => (old ? [] : classWarnings(ingress)),
  statusWarnings: loadBalancerWarnings,
  columns: [
    name,
    text('Class', 'Who serves it.', ({ spec }) => spec?.ingressClassName ?? NONE),
    text('Hosts', 'Which hosts it answers for.', hostsText),
    text('Address', 'Where it is reached.', ({ status }) => loadBalancerText(status)),
    text('Ports', 'On which ports.', ({ spec }) => (spec?.tls?.length > 0 ? '80, 443' : '80')),
    age,
  ],
});

const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenEnds = ['/..', '/.'];

/** Whatever says that it follows a path says so in a form that has only one reading. */
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

function leadsSomewhere({
  rules,
  defaultBackend,
  ingressClassName: name,
}: ObjectType<typeof specFields>): FieldError[] {
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

function hostsText({ spec }: any): string {
  const rules: readonly any[] = spec?.rules ?? [];
  return longList(rules.map(({ host }) => host).filter(Boolean)) || '*';
}

const CLASS = 'kubernetes.io/ingress.class';

function classWarnings({ metadata, spec }: any): string[] {
  if (metadata.annotations?.[CLASS] === undefined || spec?.ingressClassName !== undefined) return [];
  return [`annotation "${CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
}
