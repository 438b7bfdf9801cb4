import { expect, it } from 'vitest';
import { rewriteUrl } from './rewrite-url.ts';

const location = { prefix: '/api/v1/p/proxy', targetHost: '10.0.0.1:80', clientHost: 'localhost:8001' };

it.each([
  ['a path', '/a/b', '/api/v1/p/proxy/a/b'],
  ['a directory', '/a/', '/api/v1/p/proxy/a/'],
  ['a query and a fragment', '/a?x=/y#z', '/api/v1/p/proxy/a?x=/y#z'],
  ['the root', '/', '/api/v1/p/proxy/'],
  ['a path that leads through the proxy already', '/api/v1/p/proxy/a', '/api/v1/p/proxy/a'],
  ['the host of the program', 'http://10.0.0.1:80/a', '/api/v1/p/proxy/a'],
  ['the host of the program without a scheme', '//10.0.0.1:80/a', '/api/v1/p/proxy/a'],
  ['the host of the client', 'https://localhost:8001/a', 'https://localhost:8001/api/v1/p/proxy/a'],
  ['another host', 'https://example.com/a', 'https://example.com/a'],
  ['another host without a scheme', '//example.com/a', '//example.com/a'],
  ['a relative path', 'a/b', 'a/b'],
  ['a fragment', '#top', '#top'],
  ['an address without a host', 'mailto:a@example.com', 'mailto:a@example.com'],
  ['nothing', '', ''],
])('rewrites %s', (_what, url, expected) => {
  expect(rewriteUrl(url, location)).toBe(expected);
});
