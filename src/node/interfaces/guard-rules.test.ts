import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { guardCommands } from './guard-rules.ts';

const own = { sandboxId: 'abc', device: 'veth1', address: '10.244.0.2', mac: '0a:58:0a:f4:00:02' };
const chains = (guardsReceived: boolean) =>
  guardCommands('node', own, { guardsReceived }).flatMap(
    ({ add }) => (add as { chain?: { hook?: string; policy?: string; dev?: string } } | undefined)?.chain ?? [],
  );

it('drops everything that no rule accepts, in both directions', () => {
  expect(chains(true)).toMatchObject([
    { hook: 'ingress', policy: 'drop', dev: 'veth1' },
    { hook: 'egress', policy: 'drop', dev: 'veth1' },
  ]);
  expect(chains(false)).toMatchObject([{ hook: 'ingress', policy: 'drop', dev: 'veth1' }]);
});

it('rejects addresses, hardware addresses and interfaces that are none', () => {
  const hostile = fc
    .tuple(fc.string(), fc.constantFrom(' ', '\n', ';', '{', '"', '#', '\0', '/'), fc.string())
    .map((parts) => parts.join(''));
  forAll(hostile, fc.constantFrom('device', 'address', 'mac'), (text, field) => {
    expect(() => guardCommands('node', { ...own, [field]: text }, { guardsReceived: true })).toThrow();
  });
});
