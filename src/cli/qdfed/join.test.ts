import { expect, it } from 'vitest';
import { serverIn } from './join.ts';

const endpoints = (ip: unknown, port: unknown) => ({ subsets: [{ addresses: [{ ip }], ports: [{ port }] }] }) as never;

it.each<[unknown, unknown, string | undefined]>([
  ['192.0.2.1', 6443, 'https://192.0.2.1:6443'],
  ['2001:db8::1', 443, 'https://[2001:db8::1]:443'],
  ['elsewhere.test/', 443, undefined],
  ['192.0.2.1', '443', undefined],
  [5, 443, undefined],
  [undefined, undefined, undefined],
])('pods reach a cluster whose endpoints are %j and %j at %j', (ip, port, server) => {
  expect(serverIn(endpoints(ip, port))).toBe(server);
});

it.each([undefined, {}, { subsets: 5 }, { subsets: [null] }, { subsets: [{ addresses: 'x' }] }])(
  'endpoints like %j have no address',
  (value) => expect(serverIn(value as never)).toBeUndefined(),
);
