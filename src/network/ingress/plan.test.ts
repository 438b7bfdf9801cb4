import { describe, expect, it } from 'vitest';
import { backendFinder } from './match.ts';
import { type IngressWorld, planIngress } from './plan.ts';

const backend = (name: string, port: object = { number: 80 }) => ({ service: { name, port } });
const path = (text: string, name: string, pathType = 'Prefix') => ({ path: text, pathType, backend: backend(name) });
const ingress = (name: string, spec: object, creationTimestamp = '2030-01-01T00:00:00Z') =>
  ({ metadata: { name, namespace: 'shop', creationTimestamp }, spec }) as any;

function world(ingresses: any[], parts: Partial<Record<'services' | 'slices' | 'secrets', any>> = {}): IngressWorld {
  return {
    ingresses,
    service: (_, name) => parts.services?.[name],
    slices: (_, name) => parts.slices?.[name] ?? [],
    secret: (_, name) => parts.secrets?.[name],
  };
}

describe('rules', () => {
  const config = planIngress(
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
    expect(backendFinder(planIngress(world([young, old])))('h', '/')).toBe('shop/old:80');
  });

  it('lead nowhere without a default', () => {
    expect(backendFinder(planIngress(world([])))('h', '/')).toBeUndefined();
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
    out: { spec: { type: 'ExternalName', externalName: 'example.com' } },
  };

  it.each([
    ['web', { number: 80 }, [{ address: '10.244.0.5', port: 8080 }]],
    ['web', { name: 'admin' }, [{ address: '10.244.0.5', port: 9090 }]],
    ['web', { number: 82 }, []],
    ['none', { number: 80 }, []],
    ['out', { number: 443 }, [{ address: 'example.com', port: 443 }]],
  ])('%s %j has its ready endpoints', (name, port, expected) => {
    const { backends } = planIngress(
      world([ingress('a', { defaultBackend: backend(name, port) })], { services, slices }),
    );
    expect([...backends.values()]).toEqual([expected]);
  });
});

it('certificates come from secrets that have both parts', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const secrets = {
    good: { data: { 'tls.crt': base64('C'), 'tls.key': base64('K') } },
    bad: { data: { 'tls.crt': base64('C') } },
  };
  const tls = ['good', 'bad', 'none'].map((secretName) => ({ hosts: [`${secretName}.com`], secretName }));
  expect(planIngress(world([ingress('a', { tls })], { secrets })).certificates).toEqual([
    { hosts: ['good.com'], cert: 'C', key: 'K' },
  ]);
});

it('takes linear time for many paths, and for a path of many slashes', () => {
  const paths = Array.from({ length: 20_000 }, (_, index) => path(`/${index}`, 'a'));
  const slashes = path(`${'/'.repeat(60_000)}x`, 'b', 'ImplementationSpecific');
  const before = process.cpuUsage();
  const config = planIngress(world([ingress('many', { rules: [{ http: { paths: [...paths, slashes] } }] })]));
  expect(backendFinder(config)('shop.test', '/19999/x')).toBe('shop/a:80');
  // It takes a twentieth of this, and ten times as much when one of them is quadratic.
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
