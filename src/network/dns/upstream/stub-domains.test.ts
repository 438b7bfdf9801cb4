import { expect, it } from 'vitest';
import { NO_UPSTREAMS, parseUpstreams, serversFor } from './stub-domains.ts';

const at = (address: string, port = 53) => ({ address, port });

it('reads servers of domains, and of all other names', () => {
  const stubDomains = JSON.stringify({
    'Acme.test.': ['192.0.2.1', '192.0.2.2:5353'],
    'v6.test': ['2001:db8::1', '[2001:db8::1]:5353'],
  });
  expect(parseUpstreams({ stubDomains, upstreamNameservers: '["192.0.2.9"]' })).toEqual({
    stubs: [
      { domain: 'acme.test', servers: [at('192.0.2.1'), at('192.0.2.2', 5353)] },
      { domain: 'v6.test', servers: [at('2001:db8::1'), at('2001:db8::1', 5353)] },
    ],
    servers: [at('192.0.2.9')],
  });
});

it.each<Record<string, string> | undefined>([
  undefined,
  {},
  { stubDomains: 'not JSON', upstreamNameservers: '{}' },
  { stubDomains: '["192.0.2.1"]', upstreamNameservers: '["ns.test", 7, "192.0.2.1:0", "192.0.2.1:70000"]' },
  { stubDomains: '{"acme.test": "192.0.2.1", "b.test": [], "c..test": ["192.0.2.1"]}' },
])('unusable servers are left out: %j', (data) => {
  expect(parseUpstreams(data)).toEqual(NO_UPSTREAMS);
});

it('the longest domain decides, at the borders of labels', () => {
  const stubDomains = '{"test": ["192.0.2.1"], "acme.test": ["192.0.2.2"]}';
  const upstreams = parseUpstreams({ stubDomains });
  const first = (name: string) => serversFor(upstreams, name)?.[0]?.address;
  expect(['a.acme.test', 'acme.test', 'bacme.test', 'acme.test.org'].map(first)).toEqual([
    ...['192.0.2.2', '192.0.2.2', '192.0.2.1', undefined],
  ]);
  const withOthers = parseUpstreams({ stubDomains, upstreamNameservers: '["192.0.2.9"]' });
  expect(serversFor(withOthers, 'example.org')).toEqual([at('192.0.2.9')]);
});
