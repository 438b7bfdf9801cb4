import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { parseRange } from './addresses.ts';
import { attachCommands, deviceOf, insideCommands, macOf } from './interface-commands.ts';

const pod = { bridge: 'qd-test', sandboxId: 'abc', address: '10.244.0.2', netns: '/proc/12/ns/net' };
const range = parseRange('10.244.0.0/24');

it('makes a pair of interfaces with a hardware address that follows from the address', () => {
  expect(attachCommands(pod)).toEqual([
    'link add qdba7816bf8f01 type veth peer name eth0 address 0a:58:0a:f4:00:02 netns /proc/12/ns/net',
    'link set qdba7816bf8f01 master qd-test up',
    'link set qdba7816bf8f01 type bridge_slave hairpin on',
  ]);
  expect(insideCommands(pod.address, range)).toContain('addr add 10.244.0.2/24 dev eth0');
});

/** Text with at least one character that could end an argument, a line or a quotation. */
const hostile = fc
  .tuple(fc.string(), fc.constantFrom(' ', '\n', '\t', ';', '{', '"', "'", '#', '\0', '\\', ' include '), fc.string())
  .map((parts) => parts.join(''));

it('lines for ip never contain text of others', () => {
  forAll(hostile, (text) => {
    expect(() => macOf(text)).toThrow();
    expect(() => insideCommands(text, range)).toThrow();
    expect(() => attachCommands({ ...pod, address: text })).toThrow();
    expect(() => attachCommands({ ...pod, netns: text })).toThrow();
    expect(() => attachCommands({ ...pod, bridge: text })).toThrow();
  });
});

it('lines for ip name interfaces by a hash of the sandbox', () => {
  forAll(fc.string(), (id) => /^qd[0-9a-f]{12}$/.test(deviceOf(id)));
});
