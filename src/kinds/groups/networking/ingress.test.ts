import { describe, expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { Ingress } from './ingress.ts';

const ingress = (spec: object, annotations?: object) => ({
  metadata: { name: 'i', namespace: 'n', annotations },
  spec,
});
const service = { name: 'web', port: { number: 80 } };
const backend = { service };
const path = (parts: object) => ({
  rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...parts }] } }],
});
const host = (name: string) => ({ rules: [{ host: name }] });
const AT = 'spec.rules[0].http.paths[0]';

describe('an Ingress', () => {
  it('starts with an empty load balancer status', () => {
    const { object, errors } = create(Ingress, ingress(path({})));
    expect(errors).toEqual([]);
    expect(object.status).toEqual({ loadBalancer: {} });
  });

  it.each<[string, object, string[]]>([
    ['one service for everything', { defaultBackend: backend }, []],
    ['a port by its name', { defaultBackend: { service: { name: '1web', port: { name: 'http' } } } }, []],
    ['something else behind it', { defaultBackend: { resource: { kind: 'Bucket', name: 'b' } } }, []],
    ['a path of the class', path({ path: undefined, pathType: 'ImplementationSpecific' }), []],
    ['any host below', host('*.example.com'), []],
    ['certificates', { ...path({}), tls: [{ hosts: ['a.example.com', '*.b.com'], secretName: 's' }] }, []],
    ['nothing', {}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
    ['no paths', { rules: [{ http: {} }] }, ['spec.rules[0].http.paths: Required value']],
    [
      'no type, and no more is said',
      path({ pathType: undefined, backend: {} }),
      [`${AT}.pathType: Required value: pathType must be specified`],
    ],
    [
      'another type',
      path({ pathType: 'Regex' }),
      [`${AT}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
    ],
    [
      'a path that leads nowhere',
      path({ path: 'a//b/../%2fc/..' }),
      [
        `${AT}.path: Invalid value: "a//b/../%2fc/..": must be an absolute path`,
        `${AT}.path: Invalid value: "a//b/../%2fc/..": must not contain '//'`,
        `${AT}.path: Invalid value: "a//b/../%2fc/..": must not contain '/../'`,
        `${AT}.path: Invalid value: "a//b/../%2fc/..": must not contain '%2f'`,
        `${AT}.path: Invalid value: "a//b/../%2fc/..": cannot end with '/..'`,
      ],
    ],
    [
      'no backend',
      path({ backend: undefined }),
      [`${AT}.backend: Invalid value: "": resource or service backend is required`],
    ],
    [
      'two backends',
      path({ backend: { service, resource: { kind: 'Bucket', name: 'b' } } }),
      [`${AT}.backend: Invalid value: "": cannot set both resource and service backends`],
    ],
    [
      'a service without name and port',
      path({ backend: { service: {} } }),
      [`${AT}.backend.service.name: Required value`, `${AT}.backend: Required value: port name or number is required`],
    ],
    [
      'a port by name and number',
      path({ backend: { service: { name: 'web', port: { name: 'http', number: 80 } } } }),
      [`${AT}.backend: Invalid value: "": cannot set both port name & port number`],
    ],
    [
      'a port beyond the last',
      path({ backend: { service: { name: 'web', port: { number: 65536 } } } }),
      [`${AT}.backend.service.port.number: Invalid value: 65536: must be between 1 and 65535, inclusive`],
    ],
    [
      'a resource of nothing',
      path({ backend: { resource: {} } }),
      [`${AT}.backend.resource.kind: Required value`, `${AT}.backend.resource.name: Required value`],
    ],
    [
      'an address for a host',
      host('10.0.0.1'),
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
    [
      'a star in the middle',
      host('a.*.com'),
      [expect.stringContaining('spec.rules[0].host: Invalid value: "a.*.com": a wildcard DNS-1123 subdomain must')],
    ],
    [
      'a class without a name',
      { defaultBackend: backend, ingressClassName: '' },
      [expect.stringContaining('spec.ingressClassName: Invalid value: "": a lowercase RFC 1123 subdomain')],
    ],
    [
      'a host that is none in its certificates',
      { ...path({}), tls: [{ hosts: ['a_b'], secretName: 'S' }] },
      [
        expect.stringContaining('spec.tls[0].hosts[0]: Invalid value: "a_b": a lowercase RFC 1123 subdomain'),
        expect.stringContaining('spec.tls[0].secretName: Invalid value: "S": a lowercase RFC 1123 subdomain'),
      ],
    ],
  ])('with %s is validated', (_what, spec, errors) => {
    expect(create(Ingress, ingress(spec)).errors).toEqual(errors);
  });

  it('must have matching class names when it is created', () => {
    const annotations = { 'kubernetes.io/ingress.class': 'old' };
    const body = ingress({ defaultBackend: backend, ingressClassName: 'new' }, annotations);
    expect(create(Ingress, body).errors).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "old": must match `ingressClassName` when both are specified',
    ]);
    const { object: old } = create(Ingress, ingress({ defaultBackend: backend }, annotations));
    expect(update(Ingress, old, body).errors).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['an address', { ip: '10.0.0.1', ports: [{ port: 80, protocol: 'TCP' }] }, []],
    ['a name', { hostname: 'lb.example.com' }, []],
    [
      'an address that is none',
      { ip: '10.0.0' },
      [
        expect.stringContaining(
          'status.loadBalancer.ingress[0].ip: Invalid value: "10.0.0": must be a valid IP address',
        ),
      ],
    ],
    [
      'an address for a name',
      { hostname: '10.0.0.1' },
      ['status.loadBalancer.ingress[0].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
  ])('with the status %s is validated', (_what, point, errors) => {
    const { object: old } = create(Ingress, ingress(path({})));
    const body = { ...ingress({}), status: { loadBalancer: { ingress: [point] } } };
    expect(update(Ingress, old, body, { subresource: 'status' }).errors).toEqual(errors);
  });
});

describe('the times since when an Ingress names its hosts', () => {
  const ANNOTATION = 'networking.kubernetes.io/hosts-since';
  const rules = (...hosts: (string | undefined)[]) => ({
    rules: hosts.map((each) => (each === undefined ? {} : { host: each })),
  });
  const timesOf = ({ metadata }: any) => JSON.parse(metadata.annotations?.[ANNOTATION] ?? 'null');
  const NOW = '2026-01-02T03:04:05Z';
  const made = (spec: object, annotations?: object) => {
    const { object } = create(Ingress, ingress({ ingressClassName: 'x', ...spec }, annotations));
    object.metadata.creationTimestamp = '2025-01-01T00:00:00Z';
    return object;
  };
  const changed = (old: any, spec: object, annotations: object | undefined = old.metadata.annotations, request = {}) =>
    update(
      Ingress,
      old,
      { ...old, metadata: { ...old.metadata, annotations }, spec: { ...old.spec, ...spec } },
      request,
    ).object;

  it('are those of its creation, whatever a client says', () => {
    const forged = JSON.stringify({ '2001-01-01T00:00:00Z': ['a.test'] });
    const object = made(rules('a.test'), { [ANNOTATION]: forged, other: 'x' });
    expect(object.metadata.annotations).toEqual({ other: 'x' });
    expect(made(rules('a.test'), { [ANNOTATION]: forged }).metadata.annotations).toBeUndefined();
    expect(timesOf(changed(object, {}, { [ANNOTATION]: forged }))).toBeNull();
  });

  it('are those of the changes that have added hosts', () => {
    const object = changed(made(rules('a.test')), rules('a.test', 'b.test', undefined));
    expect(timesOf(object)).toEqual({ [NOW]: ['b.test', ''] });
    expect(timesOf(changed(object, rules('a.test', 'b.test'), {}))).toEqual({ [NOW]: ['b.test'] });
    expect(timesOf(changed(object, rules('a.test')))).toBeNull();
    expect(timesOf(changed(made(rules('a.test')), { defaultBackend: backend }))).toEqual({ [NOW]: [''] });
  });

  it('are new with another class', () => {
    expect(timesOf(changed(made(rules('a.test')), { ingressClassName: 'y' }))).toEqual({ [NOW]: ['a.test'] });
  });

  it('are not changed by a write of the status', () => {
    const object = changed(made(rules('a.test')), rules('b.test'));
    expect(timesOf(changed(object, {}, {}, { subresource: 'status' }))).toEqual({ [NOW]: ['b.test'] });
  });

  it('are one for all hosts where there are too many', () => {
    const many = Array.from({ length: 2000 }, (_, i) => `${'h'.repeat(40)}${i}.test`);
    expect(timesOf(changed(made(rules('a.test')), rules(...many)))).toEqual({ [NOW]: ['*'] });
  });
});
