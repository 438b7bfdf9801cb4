import { describe, expect, it } from 'vitest';
import { fc, forAll, forAllAsync } from '../../../test/support/property-runs.ts';
import { forgetInput } from './conntrack/forget-connections.ts';
import type { Command } from './kernel.ts';
import { routingCommands } from './routing/routing-commands.ts';
import { transactionText } from './transaction-text.ts';
import { address, macAddress, range } from './values.ts';

/** Characters and words that mean something to nft, ip, bridge or a shell. */
const POISON = [
  ' ',
  '\n',
  '\r',
  '\t',
  ';',
  '{',
  '}',
  '"',
  "'",
  '#',
  '\0',
  '\\',
  '$',
  ' include "/etc/passwd"',
  '%',
  '\u2028',
];
const hostile = fc
  .tuple(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), fc.constantFrom(...POISON), fc.string())
  .map((parts) => parts.join(''));

const isRejected = async (command: Command) => {
  await expect(transactionText('qd-a', [command])).rejects.toThrow(/is not a/);
};

describe('no text of others reaches nft', () => {
  it.each<[string, (text: string) => Command]>([
    ['an element', (text) => ({ do: 'add-elements', set: 's', elements: ['10.0.0.1', text] })],
    ['a part of an element', (text) => ({ do: 'add-elements', set: 's', elements: [`10.0.0.1 . tcp . ${text}`] })],
    ['the value of an element', (text) => ({ do: 'add-elements', set: 's', elements: [`10.0.0.1 : ${text}`] })],
    ['the chain of an element', (text) => ({ do: 'delete-elements', set: 's', elements: [`10.0.0.1 : goto ${text}`] })],
    ['the name of a set', (text) => ({ do: 'delete-set', set: text })],
    ['the name of a chain', (text) => ({ do: 'add-chain', chain: text })],
    ['the type of a set', (text) => ({ do: 'add-set', set: { name: 's', kind: 'set', type: text } })],
  ])('as %s', async (_, commandWith) => {
    await forAllAsync(hostile, (text) => isRejected(commandWith(text)));
  });

  it('as a word of a rule, unless it is one of the language', async () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !/^[a-z0-9.:|&^!={},@/-]+$/i.test(text));
    const foreign = fc.oneof(
      word,
      fc.constantFrom('include', 'define', 'flush', 'delete', 'table', 'log', 'queue', '"x"', '#'),
    );
    await forAllAsync(foreign, (text) => isRejected({ do: 'add-rule', chain: 'c', rule: `ip saddr ${text} drop` }));
  });

  it('as an address or a range in a rule', () => {
    forAll(hostile, (text) => {
      for (const check of [address, range, macAddress]) expect(() => check(text)).toThrow(/is not a/);
    });
  });
});

it('no text of others reaches ip and bridge', () => {
  const none = { routes: [], device: undefined };
  const owner = 'qd0000000f';
  const peer = { remote: '172.16.0.3', gateway: '10.0.2.0', mac: '0a:58:ac:10:00:03', ranges: ['10.0.2.0/24'] };
  const tunnel = { vni: 7, port: 4789, local: '192.168.1.1', address: '10.0.0.0', mac: '0a:58:c0:a8:01:01', mtu: 1450 };
  forAll(fc.oneof(hostile, fc.constantFrom('add', 'dead', 'default')), (text) => {
    for (const route of [
      { range: text, via: '192.168.1.2' },
      { range: '10.0.1.0/24', via: text },
    ]) {
      expect(() => routingCommands(owner, none, { routes: [route], tunnel: undefined })).toThrow();
    }
    for (const changes of [{ remote: text }, { gateway: text }, { mac: text }, { ranges: [text] }]) {
      const peers = [{ ...peer, ...changes }];
      expect(() => routingCommands(owner, none, { routes: [], tunnel: { ...tunnel, peers } })).toThrow();
    }
    for (const changes of [{ local: text }, { address: text }, { mac: text }]) {
      expect(() =>
        routingCommands(owner, none, { routes: [], tunnel: { ...tunnel, ...changes, peers: [] } }),
      ).toThrow();
    }
  });
});

it('no text of others reaches the program that forgets connections', () => {
  const connection = { protocol: 'udp', address: '10.0.0.1', port: 53, keep: [] } as const;
  expect(forgetInput([{ ...connection, keep: ['10.0.0.2 53', 'fd00::1 53'] }])).toBe(
    '10.0.0.1 53 10.0.0.2,53 fd00::1,53\n',
  );
  forAll(hostile, (text) => {
    expect(() => forgetInput([{ ...connection, address: text }])).toThrow();
    expect(() => forgetInput([{ ...connection, keep: [`${text} 53`] }])).toThrow();
  });
});
