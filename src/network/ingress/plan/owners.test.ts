import { describe, expect, it } from 'vitest';
import { atOnce, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import { backendFinder } from '../proxy/match.ts';
import { type IngressPolicy, planIngress } from './plan.ts';

const POLICY: IngressPolicy = { sharesHosts: false, allowsExternalNames: false };
const OLD = '2030-01-01T00:00:00Z';
const YOUNG = '2030-01-02T00:00:00Z';

const service = (name: string) => ({ service: { name, port: { number: 80 } } });
const rule = (host: string | undefined, path: string, name: string, pathType = 'Prefix') => ({
  ...(host === undefined ? {} : { host }),
  http: { paths: [{ path, pathType, backend: service(name) }] },
});
const ingress = (at: string, creationTimestamp: string, spec: object): any => {
  const [namespace, name] = at.split('/');
  return { metadata: { namespace, name, creationTimestamp }, spec };
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

function plan(ingresses: any[], policy = POLICY) {
  const world = {
    ...{ ingresses, policy, changes: { services: new Set<string>(), secrets: false } },
    ...{ service: () => ({ metadata: {}, spec: { ports: [{ port: 80 }] } }) as any, slices: () => [] },
    secret: (namespace: string) => ({ data: { 'tls.crt': base64(namespace), 'tls.key': base64('K') } }) as any,
  };
  const { config, problems } = atOnce(planIngress(world, undefined, NEVER_SPENT));
  const found = problems.map((each) => [each.ingress.metadata.namespace, each.reason, each.message]);
  return { config, find: backendFinder(config), problems: found };
}

describe('a host', () => {
  const blue = ingress('blue/shop', OLD, { rules: [rule('shop.example', '/', 'front')] });
  const red = ingress('red/login', YOUNG, { rules: [rule('shop.example', '/login', 'evil', 'Exact')] });

  it('belongs to the namespace of the oldest Ingress that names it', () => {
    for (const both of [
      [blue, red],
      [red, blue],
    ]) {
      const { find, problems } = plan(both);
      expect(find('shop.example', '/login')).toBe('blue/front:80');
      expect(problems).toEqual([
        [
          'red',
          'HostTaken',
          'Host "shop.example" belongs to namespace "blue", which has named it first: the rules here are not served',
        ],
      ]);
    }
  });

  it('belongs to who has named it first, and not to an older Ingress that was changed to name it', () => {
    const times = JSON.stringify({ [YOUNG]: ['shop.example'] });
    const changed = { ...ingress('red/old', '2029-01-01T00:00:00Z', red.spec) };
    changed.metadata.annotations = { 'networking.kubernetes.io/hosts-since': times };
    const { find, problems } = plan([changed, blue]);
    expect(find('shop.example', '/login')).toBe('blue/front:80');
    expect(problems.map(([namespace]) => namespace)).toEqual(['red']);
  });

  it('is shared within the namespace', () => {
    const more = ingress('blue/login', YOUNG, { rules: [rule('shop.example', '/login', 'login')] });
    const { find, problems } = plan([blue, more]);
    expect([find('shop.example', '/login'), problems]).toEqual(['blue/login:80', []]);
  });

  it('goes to the next oldest when the owner is gone', () => {
    const { find, problems } = plan([red]);
    expect([find('shop.example', '/login'), problems]).toEqual(['red/evil:80', []]);
  });

  it('belongs to the first by namespace and name when both are as old', () => {
    const same = ingress('red/login', OLD, red.spec);
    expect(plan([same, blue]).find('shop.example', '/login')).toBe('blue/front:80');
  });

  it('is shared by all namespaces when that is allowed', () => {
    const { find, problems } = plan([blue, red], { ...POLICY, sharesHosts: true });
    expect([find('shop.example', '/login'), problems]).toEqual(['red/evil:80', []]);
  });
});

describe('paths that the owner of a host has no rule for', () => {
  const blue = ingress('blue/shop', YOUNG, { rules: [rule('shop.example', '/app', 'front')] });

  it.each([
    ['a wildcard', { rules: [rule('*.example', '/', 'evil')] }],
    ['rules without a host', { rules: [rule(undefined, '/', 'evil')] }],
    ['a default backend', { defaultBackend: service('evil') }],
  ])('do not go to %s of another namespace', (_, spec) => {
    const red = ingress('red/all', OLD, spec);
    const { find, problems } = plan([red, blue]);
    expect(find('shop.example', '/login')).toBeUndefined();
    expect(find('shop.example', '/app')).toBe('blue/front:80');
    expect(find('other.example', '/login')).toBe('red/evil:80');
    expect(problems).toEqual([]);
    expect(plan([red, blue], { ...POLICY, sharesHosts: true }).find('shop.example', '/login')).toBe('red/evil:80');
  });

  it('go to those of the same namespace', () => {
    const all = ingress('blue/all', OLD, {
      rules: [rule('*.example', '/wild', 'wild')],
      defaultBackend: service('last'),
    });
    const { find } = plan([all, blue]);
    expect([find('shop.example', '/wild'), find('shop.example', '/x')]).toEqual(['blue/wild:80', 'blue/last:80']);
  });
});

it('rules without a host and default backends belong to the namespace that had the first of either', () => {
  const blue = ingress('blue/last', OLD, { defaultBackend: service('last') });
  const red = ingress('red/any', YOUNG, { rules: [rule(undefined, '/login', 'evil')] });
  const { find, problems } = plan([red, blue]);
  expect(find('any.example', '/login')).toBe('blue/last:80');
  expect(problems).toEqual([
    [
      'red',
      'HostTaken',
      'Requests for all other hosts belong to namespace "blue", which has named it first: the rules here are not served',
    ],
  ]);
});

it('a problem names few of the hosts that are taken', () => {
  const hosts = Array.from({ length: 50 }, (_, index) => `h${index}.example`);
  const rules = hosts.map((host) => rule(host, '/', 'x'));
  expect(plan([ingress('a/a', OLD, { rules }), ingress('b/b', YOUNG, { rules })]).problems).toHaveLength(5);
});

describe('a certificate', () => {
  const tls = (hosts: string[] | undefined) => ({ tls: [{ ...(hosts ? { hosts } : {}), secretName: 's' }] });
  const hostsOf = (...ingresses: any[]) => plan(ingresses).config.certificates.map(({ hosts, cert }) => [cert, hosts]);

  it('is not used for hosts of other namespaces', () => {
    const blue = ingress('blue/shop', YOUNG, { rules: [rule('shop.example', '/', 'front')] });
    const red = ingress('red/tls', OLD, tls(['shop.example', 'red.example']));
    expect(hostsOf(red, blue)).toEqual([['red', ['red.example']]]);
    expect(hostsOf(ingress('red/tls', OLD, tls(['shop.example'])), blue)).toEqual([]);
  });

  it('without hosts is for all of them, or for those of its Ingress when another namespace has the rest', () => {
    const blue = ingress('blue/shop', YOUNG, { rules: [rule('shop.example', '/', 'front')], ...tls(undefined) });
    const red = ingress('red/all', OLD, { defaultBackend: service('last') });
    expect(hostsOf(blue)).toEqual([['blue', []]]);
    expect(hostsOf(red, blue)).toEqual([['blue', ['shop.example']]]);
  });
});
