import { describe, expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { backendFinder } from '../proxy/match.ts';
import { type IngressPlan, type IngressWorld, MAX_ADDRESSES, planIngress } from './plan.ts';

const backend = (name: string, port: object = { number: 80 }) => ({ service: { name, port } });
const path = (text: string, name: string, pathType = 'Prefix') => ({ path: text, pathType, backend: backend(name) });
const ingress = (name: string, spec: object, creationTimestamp = '2030-01-01T00:00:00Z', namespace = 'shop') =>
  ({ metadata: { name, namespace, creationTimestamp }, spec }) as any;

function world(
  ingresses: any[],
  parts: Partial<Record<'services' | 'slices' | 'secrets' | 'policy', any>> = {},
): IngressWorld {
  return {
    ingresses,
    changes: { services: new Set(), secrets: false },
    policy: { sharesHosts: false, allowsExternalNames: true, ...parts.policy },
    service: (_, name) => parts.services?.[name],
    slices: (_, name) => parts.slices?.[name] ?? [],
    secret: (_, name) => parts.secrets?.[name],
  };
}

const EXTERNAL = { metadata: { name: 'out' }, spec: { type: 'ExternalName', externalName: 'example.com' } };

const planOf = (seen: IngressWorld, before?: IngressPlan) => atOnce(planIngress(seen, before, NEVER_SPENT));
const configOf = (seen: IngressWorld) => planOf(seen).config;

describe('rules', () => {
  const config = configOf(
    world([
      ingress('a', {
        rules: [
          {
            host: 'shop.example.com',
            http: {
              paths: [path('/', 'front'), path('/api', 'api'), path('/api', 'exact', 'Exact'), path('/api/v2/', 'v2')],
            },
          },
          { host: '*.example.com', http: { paths: [path('/', 'wild')] } },
          { http: { paths: [path('/any', 'any', 'ImplementationSpecific')] } },
        ],
      }),
      ingress('b', { defaultBackend: backend('last') }),
    ]),
  );

  it.each([
    ['shop.example.com', '/', 'front'],
    ['SHOP.example.com:8080', '/x', 'front'],
    ['shop.example.com', '/api', 'exact'],
    ['shop.example.com', '/api/', 'api'],
    ['shop.example.com', '/apis', 'front'],
    ['shop.example.com', '/api/v2', 'v2'],
    ['shop.example.com', '/api/v2/x', 'v2'],
    ['shop.example.com', '/API', 'front'],
    ['other.example.com', '/', 'wild'],
    ['a.b.example.com', '/', 'last'],
    ['example.com', '/any/thing', 'any'],
    ['example.com', '/anything', 'last'],
  ])('send %s%s to %s', (host, requested, name) => {
    expect(backendFinder(config)(host, requested)).toBe(`shop/${name}:80`);
  });

  it('of an older Ingress win', () => {
    const rule = (name: string) => ({ rules: [{ host: 'h', http: { paths: [path('/', name)] } }] });
    const young = ingress('a', rule('young'), '2030-01-02T00:00:00Z');
    const old = ingress('z', rule('old'), '2030-01-01T00:00:00Z');
    expect(backendFinder(configOf(world([young, old])))('h', '/')).toBe('shop/old:80');
  });

  it('lead nowhere without a default', () => {
    expect(backendFinder(configOf(world([])))('h', '/')).toBeUndefined();
  });
});

describe('a backend', () => {
  const slices = {
    web: [
      {
        addressType: 'IPv4',
        ports: [
          { name: 'http', protocol: 'TCP', port: 8080 },
          { name: 'admin', protocol: 'TCP', port: 9090 },
        ],
        endpoints: [
          { addresses: ['10.244.0.5'], conditions: { ready: true } },
          { addresses: ['10.244.0.6'], conditions: { ready: false } },
        ],
      },
    ],
  };
  const services = {
    web: {
      spec: {
        type: 'ClusterIP',
        ports: [
          { name: 'http', port: 80 },
          { name: 'admin', port: 81 },
        ],
      },
    },
    out: EXTERNAL,
    literal: { spec: { type: 'ExternalName', externalName: '192.0.2.9' } },
  };

  it.each([
    ['web', { number: 80 }, [{ address: '10.244.0.5', port: 8080 }]],
    ['web', { name: 'admin' }, [{ address: '10.244.0.5', port: 9090 }]],
    ['web', { number: 82 }, []],
    ['none', { number: 80 }, []],
    ['out', { number: 443 }, [{ address: 'example.com', port: 443 }]],
    ['literal', { number: 443 }, []],
  ])('%s %j has its ready endpoints', (name, port, expected) => {
    const { backends } = configOf(world([ingress('a', { defaultBackend: backend(name, port) })], { services, slices }));
    expect([...backends.values()]).toEqual([expected]);
  });

  it('of the type ExternalName has none unless that is allowed, and a problem says so', () => {
    const own = ingress('a', { defaultBackend: backend('out', { number: 443 }) });
    const { config, problems } = planOf(world([own], { services, policy: { allowsExternalNames: false } }));
    expect([...config.backends.values()]).toEqual([[]]);
    expect(problems).toEqual([
      {
        ingress: own,
        reason: 'ExternalNameNotAllowed',
        message: 'Service "out" of type ExternalName is not served: --ingress-allow-external-names would allow it',
      },
    ]);
  });

  it('that do not exist, and ports that they lack, are problems until they come', () => {
    const rules = ['/', '/x'].map((text) => ({ host: 'a.test', http: { paths: [path(text, 'none')] } }));
    const own = ingress('a', { rules, defaultBackend: backend('web', { number: 82 }) });
    const seen = world([own], { services, slices });
    const first = planOf(seen);
    expect(first.problems.map(({ reason, message }) => [reason, message]).sort()).toEqual([
      ['ServiceNotFound', 'Service "none" does not exist: its paths answer 503'],
      ['ServicePortNotFound', 'Service "web" has no port 82: its paths answer 503. It has: http (80), admin (81)'],
    ]);
    const changes = { services: new Set(['shop/none']), secrets: false };
    const come = { ...seen, changes, service: (_: string, name: string) => services[name as 'web'] ?? services.web };
    expect(planOf(come as never, first).problems.map(({ reason }) => reason)).toEqual(['ServicePortNotFound']);
  });

  it('may be at an address of the machine only when its endpoint is that of a pod', () => {
    const endpoints = [{ addresses: ['192.0.2.1'], nodeName: 'n1' }, { addresses: ['192.0.2.2'] }];
    const seen = world([ingress('a', { defaultBackend: backend('web') })], {
      ...{ services, slices: { web: [{ ...slices.web[0], endpoints }] } },
    });
    expect([...configOf(seen).backends.values()]).toEqual([
      [
        { address: '192.0.2.1', port: 8080, mayBeOwn: true },
        { address: '192.0.2.2', port: 8080 },
      ],
    ]);
  });

  it('has a limited number of endpoints', () => {
    const endpoints = Array.from({ length: MAX_ADDRESSES + 5 }, (_, index) => ({
      addresses: [`10.0.${index >> 8}.${index & 255}`],
      conditions: { ready: index >= 3 },
    }));
    const many = { web: [{ ...slices.web[0], endpoints }, ...slices.web] };
    const seen = world([ingress('a', { defaultBackend: backend('web') })], { services, slices: many });
    const addresses = [...configOf(seen).backends.values()][0]!;
    expect([addresses.length, addresses[0]]).toEqual([MAX_ADDRESSES, { address: '10.0.0.3', port: 8080 }]);
  });
});

it('certificates come from secrets that have both parts', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const secrets = {
    good: { data: { 'tls.crt': base64('C'), 'tls.key': base64('K') } },
    bad: { data: { 'tls.crt': base64('C') } },
  };
  const tls = ['good', 'bad', 'none'].map((secretName) => ({ hosts: [`${secretName}.com`], secretName }));
  expect(configOf(world([ingress('a', { tls })], { secrets })).certificates).toEqual([
    { hosts: ['good.com'], cert: 'C', key: 'K' },
  ]);
});

it('a plan takes linear time for many paths, and for a path of many slashes', () => {
  const paths = Array.from({ length: 20_000 }, (_, index) => path(`/${index}`, 'a'));
  const slashes = path(`${'/'.repeat(60_000)}x`, 'b', 'ImplementationSpecific');
  const before = process.cpuUsage();
  const config = configOf(world([ingress('many', { rules: [{ http: { paths: [...paths, slashes] } }] })]));
  expect(backendFinder(config)('shop.test', '/19999/x')).toBe('shop/a:80');
  // It takes a twentieth of this, and ten times as much when one of them is quadratic.
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});

describe('a plan that goes on from the one before', () => {
  const slice = (address: string) => ({
    addressType: 'IPv4',
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  });
  const service = { spec: { ports: [{ port: 80 }] } };
  const rule = (host: string, ...paths: object[]) => ({ host, http: { paths } });
  const ingresses = [
    ingress('a', { rules: [rule('a.test', path('/', 'one')), rule('shared.test', path('/', 'one'))] }),
    ingress('b', { rules: [rule('b.test', path('/', 'two')), rule('shared.test', path('/two', 'two'))] }),
  ];
  const services = { one: service, two: service };
  const slices = { one: [slice('10.0.0.1')], two: [slice('10.0.0.2')] };
  const changed = (...names: string[]) => ({ services: new Set(names.map((name) => `shop/${name}`)), secrets: false });

  it('keeps what did not change when the endpoints of a Service do', () => {
    const before = planOf(world(ingresses, { services, slices }));
    const other = world(ingresses, { services, slices: { ...slices, two: [slice('10.0.0.3')] } });
    const { config } = planOf({ ...other, changes: changed('two') }, before);
    expect(config.hosts).toBe(before.config.hosts);
    expect(config.backends.get('shop/one:80')).toBe(before.config.backends.get('shop/one:80'));
    expect(config.backends.get('shop/two:80')).toEqual([{ address: '10.0.0.3', port: 8080 }]);
    expect(config.certificates).toBe(before.config.certificates);
  });

  it.each([
    ['no Ingress leads to', 'three'],
    ['has the same endpoints', 'two'],
  ])('has nothing new for a changed Service that %s', (_, name) => {
    const seen = world(ingresses, { services, slices });
    const before = planOf(seen);
    const { config } = planOf({ ...seen, changes: changed(name) }, before);
    expect(config.backends).toBe(before.config.backends);
    expect(config.hosts).toBe(before.config.hosts);
  });

  it('looks only at the Services that changed', () => {
    const before = planOf(world(ingresses, { services, slices }));
    const asked: string[] = [];
    const seen = world(ingresses, { services, slices });
    const counting = {
      ...seen,
      service: (namespace: string, name: string) => {
        asked.push(name);
        return seen.service(namespace, name);
      },
    };
    planOf({ ...counting, changes: changed('two', 'three') }, before);
    expect([...new Set(asked)]).toEqual(['two']);
  });

  it('keeps the rules of hosts whose Ingresses did not change, and of those where only the status did', () => {
    const named = ingresses.map((each, index) => ({
      ...each,
      metadata: { ...each.metadata, uid: `${index}`, generation: 1 },
    }));
    const before = planOf(world(named));
    const [first, second] = named as any[];
    const touched = { ...first, status: { loadBalancer: {} }, spec: structuredClone(first.spec) };
    const other = { ...second, metadata: { ...second.metadata, generation: 2 } };
    const kept = planOf(world([touched, second]), before).config;
    expect([kept.hosts, kept.backends]).toEqual([before.config.hosts, before.config.backends]);
    expect(kept.hosts).toBe(before.config.hosts);
    expect(kept.backends).toBe(before.config.backends);
    const { config } = planOf(world([touched, other]), before);
    expect(config.hosts.get('a.test')).toBe(before.config.hosts.get('a.test'));
    expect(config.hosts.get('shared.test')).not.toBe(before.config.hosts.get('shared.test'));
    expect(config).toEqual(before.config);
  });

  it('is what it would be without one', () => {
    const names = ['one', 'two', 'three'];
    const name = fc.constantFrom(...names);
    const spec = fc.record({
      ...{ host: fc.constantFrom('a.test', 'b.test'), text: fc.constantFrom('/', '/x', '/y'), to: name },
      ...{ hasDefault: fc.boolean(), secret: name },
    });
    const step = fc.record({
      ingress: fc.option(fc.tuple(fc.constantFrom('i', 'j', 'k'), fc.option(spec))),
      service: fc.option(fc.tuple(name, fc.boolean())),
      slices: fc.option(fc.tuple(name, fc.integer({ min: 0, max: 2 }))),
      secret: fc.option(fc.tuple(name, fc.boolean())),
    });
    forAll(fc.array(step, { maxLength: 12 }), (steps) => {
      const objects = new Map<string, any>();
      const parts: Record<'services' | 'slices' | 'secrets' | 'policy', any> = {
        ...{ services: {}, slices: {}, secrets: {} },
        policy: { allowsExternalNames: false },
      };
      let list: any[] = [];
      let before: IngressPlan | undefined;
      for (const [index, each] of steps.entries()) {
        const services = new Set<string>();
        if (each.ingress) {
          const [key, wanted] = each.ingress;
          objects.delete(key);
          if (wanted) {
            const { host, text, to, hasDefault, secret } = wanted;
            const rules = [rule(host, path(text, to))];
            const more = hasDefault ? { defaultBackend: backend(to) } : {};
            const full = { rules, tls: [{ hosts: [host], secretName: secret }], ...more };
            objects.set(key, ingress(key, full, undefined, key === 'i' ? 'other' : 'shop'));
          }
          list = [...objects.values()];
        }
        if (each.service) {
          parts.services[each.service[0]] = each.service[1] ? (index % 3 === 0 ? EXTERNAL : service) : undefined;
          for (const namespace of ['shop', 'other']) services.add(`${namespace}/${each.service[0]}`);
        }
        if (each.slices) {
          const [of, count] = each.slices;
          parts.slices[of] = Array.from({ length: count }, (_, at) => slice(`10.0.${index}.${at}`));
          for (const namespace of ['shop', 'other']) services.add(`${namespace}/${of}`);
        }
        if (each.secret) {
          const data = { 'tls.crt': Buffer.from(`C${index}`).toString('base64'), 'tls.key': 'S0tL' };
          parts.secrets[each.secret[0]] = each.secret[1] ? { data } : undefined;
        }
        const seen = { ...world(list, parts), changes: { services, secrets: each.secret !== null } };
        before = planOf(seen, before);
        expect(before.config).toEqual(configOf(seen));
        expect(before.problems).toEqual(planOf(seen).problems);
      }
    });
  });
});

it('plans many paths, hosts, backends and certificates in many turns', () => {
  const pace = { isSpent: () => true };
  const count = 100;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const turnsOf = (...ingresses: any[]) => countTurns(planIngress(world(ingresses), undefined, pace)).turns;
  const paths = numbers.map((index) => path(`/${index}`, `s${index}`));
  const rules = numbers.map((index) => ({ host: `h${index}.test` }));
  // The paths, the backends of the Ingress, and their addresses.
  expect(turnsOf(ingress('a', { rules: [{ http: { paths } }] }))).toBeGreaterThan(3 * count);
  expect(turnsOf(ingress('a', { rules }))).toBeGreaterThan(3 * count);
  expect(turnsOf(ingress('a', { tls: rules.map(({ host }) => ({ hosts: [host] })) }))).toBeGreaterThan(count);
  expect(turnsOf(...numbers.map((index) => ingress(`i${index}`, {})))).toBeGreaterThan(count);
  // Two Ingresses have rules for one host, which are merged.
  const shared = (name: string) => ingress(name, { rules: [{ http: { paths } }] });
  expect(turnsOf(shared('a'), shared('b'))).toBeGreaterThan(7 * count);
});
