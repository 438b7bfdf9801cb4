import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { IngressClass } from './ingress-class.ts';

const controller = 'example.com/ingress-controller';
const ingressClass = (spec: object) => ({ metadata: { name: 'web' }, spec });
const withParameters = (parameters: object) => ({
  controller,
  parameters: { kind: 'Settings', name: 's', ...parameters },
});

it('an IngressClass has cluster-scoped parameters by default', () => {
  const { object } = create(IngressClass, ingressClass(withParameters({})));
  expect(object.spec.parameters?.scope).toBe('Cluster');
});

it.each<[string, object, string[]]>([
  ['a controller', { controller }, []],
  ['parameters in a namespace', withParameters({ scope: 'Namespace', namespace: 'n' }), []],
  ['nothing', {}, ['spec.controller: Required value']],
  [
    'a controller of no domain',
    { controller: 'nginx' },
    ['spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    'a long name',
    { controller: `example.com/${'x'.repeat(239)}` },
    ['spec.controller: Too long: may not be more than 250 bytes'],
  ],
  [
    'parameters of nothing',
    { controller, parameters: { apiGroup: '' } },
    [
      'spec.parameters.kind: Required value',
      'spec.parameters.name: Required value',
      expect.stringContaining('spec.parameters.apiGroup: Invalid value: "": a lowercase RFC 1123 subdomain'),
    ],
  ],
  [
    'parameters in no namespace',
    withParameters({ scope: 'Namespace' }),
    ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  ],
  [
    'a namespace of the cluster',
    withParameters({ namespace: 'n' }),
    ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  ],
  [
    'another scope',
    withParameters({ scope: 'World' }),
    ['spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"'],
  ],
])('an IngressClass with %s is validated', (_what, spec, errors) => {
  expect(create(IngressClass, ingressClass(spec)).errors).toEqual(errors);
});

it('an IngressClass has an immutable controller', () => {
  const { object: old } = create(IngressClass, ingressClass({ controller }));
  expect(update(IngressClass, old, ingressClass({ controller: 'example.com/other' })).errors).toEqual([
    'spec.controller: Invalid value: "example.com/other": field is immutable',
  ]);
});
