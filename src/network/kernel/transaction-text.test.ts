import { expect, it } from 'vitest';
import type { Command } from './kernel.ts';
import { removalText, transactionText } from './transaction-text.ts';

const text = async (...commands: Command[]) => (await transactionText('qd-a', commands)).trim().split('\n');

it('writes commands for one table', async () => {
  expect(
    await text(
      { do: 'replace-table' },
      {
        do: 'add-set',
        set: { name: 's', kind: 'set', type: 'type ipv4_addr', flags: ['dynamic', 'timeout'], timeoutSeconds: 5 },
      },
      { do: 'add-chain', chain: 'c', hook: { type: 'nat', hook: 'output', priority: -100 } },
      { do: 'add-rule', chain: 'c', rule: 'ip daddr @s reject' },
      { do: 'add-elements', set: 's', elements: ['10.0.0.1', '10.0.0.2'] },
      { do: 'delete-chain', chain: 'old' },
    ),
  ).toEqual([
    'add table inet qd-a',
    'delete table inet qd-a',
    'add table inet qd-a',
    'add set inet qd-a s { type ipv4_addr; flags dynamic,timeout; timeout 5s; }',
    'add chain inet qd-a c { type nat hook output priority -100; policy accept; }',
    'add rule inet qd-a c ip daddr @s reject',
    'add element inet qd-a s { 10.0.0.1, 10.0.0.2 }',
    'delete chain inet qd-a old',
  ]);
});

it.each(['filter', 'qd-', 'qd-a b', 'qd-a;', 'qd-a\nflush ruleset'])(
  'rejects what could reach anything else: the table %j',
  async (table) => {
    const written = transactionText(table, [{ do: 'replace-table' }]);
    await expect(written).rejects.toThrow('not a table of this program');
    expect(() => removalText(table)).toThrow('not a table of this program');
  },
);

it.each([
  { do: 'add-rule', chain: 'c', rule: 'accept\nflush ruleset' },
  { do: 'add-rule', chain: 'c', rule: 'accept; flush ruleset' },
  { do: 'add-rule', chain: 'c', rule: 'log prefix "x"' },
  { do: 'add-rule', chain: 'c x', rule: 'accept' },
  { do: 'add-elements', set: 's', elements: ['1.1.1.1 # x'] },
  { do: 'add-set', set: { name: 's', kind: 'set', type: 'type ipv4_addr; size 9' } },
  { do: 'add-set', set: { name: 's', kind: 'set', type: 'type ipv4_addr', timeoutSeconds: 0.5 } },
] satisfies Command[])('rejects what could reach anything else: %j', async (command) => {
  await expect(text(command)).rejects.toThrow(/is not a/);
});
