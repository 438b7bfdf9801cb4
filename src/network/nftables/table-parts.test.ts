import { expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../test/support/divided-work.ts';
import type { Part } from './part.ts';
import { TableParts, transition } from './table-parts.ts';

const element = (key: string, value: string): Part => ({ kind: 'element', set: 'm', key, value });
const shared = (name: string): Part => ({ kind: 'chain', name, rules: ['accept'], isShared: true });
const replace = (table: TableParts, owners: Record<string, readonly Part[]>) =>
  atOnce(transition(atOnce(table.replace(new Map(Object.entries(owners)), NEVER_SPENT)), NEVER_SPENT));

it('sends only what differs', () => {
  const table = new TableParts();
  replace(table, { a: [element('1', 'x'), element('2', 'x')] });
  expect(replace(table, { a: [element('1', 'x'), element('2', 'y')] }).commands).toEqual([
    { do: 'delete-elements', set: 'm', elements: ['2 : x'] },
    { do: 'add-elements', set: 'm', elements: ['2 : y'] },
  ]);
  expect(replace(table, { a: [element('1', 'x'), element('2', 'y')] }).commands).toEqual([]);
});

it('gives a key that several services ask for to the first of them, and to the next when that is gone', () => {
  const table = new TableParts();
  replace(table, { b: [element('1', 'b')] });
  expect(replace(table, { c: [element('1', 'c')] }).commands).toEqual([]);
  expect(replace(table, { a: [element('1', 'a')] }).commands).toHaveLength(2);
  expect(replace(table, { a: [] }).commands).toContainEqual({ do: 'add-elements', set: 'm', elements: ['1 : b'] });
  expect(atOnce(table.all(NEVER_SPENT))).toEqual([{ before: undefined, after: element('1', 'b') }]);
});

it('a shared part stays as long as one service has it, and is emptied then', () => {
  const table = new TableParts();
  replace(table, { a: [shared('c')], b: [shared('c')] });
  expect(replace(table, { a: [] })).toEqual({ commands: [], stale: [] });
  expect(replace(table, { b: [] })).toEqual({ commands: [{ do: 'flush-chain', chain: 'c' }], stale: ['c'] });
});

it('a change looks at the parts of one service only, however many there are', () => {
  const table = new TableParts();
  let read = 0;
  const counted = () =>
    new Proxy(shared('c'), {
      get(part, name) {
        read++;
        return Reflect.get(part, name);
      },
    });
  const many = Array.from({ length: 5_000 }, (_, at) => [`s${at}`, [element(`${at}`, 'x'), counted()]] as const);
  atOnce(table.replace(new Map(many), NEVER_SPENT));
  expect(read).toBeGreaterThan(5_000);
  read = 0;
  atOnce(table.replace(new Map([['s7', [element('7', 'y'), counted()]]]), NEVER_SPENT));
  expect(read).toBeLessThan(50);
});

it('replaces many parts in many turns', () => {
  const table = new TableParts();
  const parts = Array.from({ length: 100 }, (_, at) => element(`${at}`, 'x'));
  const { value, turns } = countTurns(table.replace(new Map([['a', parts]]), { isSpent: () => true }));
  expect(value).toHaveLength(100);
  expect(turns).toBeGreaterThan(100);
  const all = countTurns(table.all({ isSpent: () => true }));
  expect(all.value).toEqual(value);
  expect(all.turns).toBeGreaterThan(100);
  const commands = countTurns(transition(value, { isSpent: () => true }));
  expect(commands.value).toEqual(atOnce(transition(value, NEVER_SPENT)));
  expect(commands.turns).toBeGreaterThan(100);
});
