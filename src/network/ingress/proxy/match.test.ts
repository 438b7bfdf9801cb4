import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import type { PathRule } from '../config.ts';
import { backendFinder, withoutSlashes } from './match.ts';

const finder = (rules: readonly PathRule[]) =>
  backendFinder({
    hosts: new Map([['', rules]]),
    owners: new Map(),
    defaultBackend: 'default',
    backends: new Map(),
    certificates: [],
  });

/** Finds the backend rule by rule, as documented. */
function expected(rules: readonly PathRule[], requested: string): string {
  const fitting = rules.filter(({ path, type }) => {
    const prefix = withoutSlashes(path);
    if (type === 'Exact') return path === requested;
    return requested === prefix || requested.startsWith(`${prefix}/`);
  });
  fitting.sort((a, b) => b.path.length - a.path.length || Number(b.type === 'Exact') - Number(a.type === 'Exact'));
  return fitting[0]?.backend ?? 'default';
}

const element = fc.constantFrom('a', 'b', 'ab', '', '!', 'a-b', 'é', '.', '%2F');
const path = fc.array(element, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`);

it('the rule with the longest path is found', () => {
  forAll(
    fc.array(fc.record({ path, type: fc.constantFrom('Exact' as const, 'Prefix' as const) }), { maxLength: 30 }),
    fc.array(fc.oneof(path, fc.constantFrom('', '*', 'a')), { minLength: 5, maxLength: 20 }),
    (given, requests) => {
      const known = new Map<string, PathRule>();
      for (const { path: text, type } of given) {
        const trimmed = type === 'Exact' ? text : withoutSlashes(text) || '/';
        const key = `${type} ${trimmed}`;
        known.set(key, { path: trimmed, type, backend: key });
      }
      const rules = [...known.values()];
      const find = finder(rules);
      for (const requested of requests) expect(find('any', requested)).toBe(expected(rules, requested));
    },
  );
});

it('a search takes as long for many rules as for few', () => {
  const timeFor = (count: number) => {
    const rules = Array.from({ length: count }, (_, index) => {
      const text = `/${'a/'.repeat(index % 100)}${index}`;
      return { path: text, type: 'Prefix' as const, backend: text };
    });
    const find = finder(rules);
    find('any', '/');
    const before = process.cpuUsage();
    for (let i = 0; i < 20_000; i++) find('any', i % 2 ? `/a/a/a/${i % count}/x` : '/none');
    return process.cpuUsage(before).user;
  };
  // In this order: the first one is slower than it will be, because V8 has not compiled it yet.
  const few = timeFor(1_000);
  // Looking at each of them would take thirty times as long.
  expect(timeFor(30_000)).toBeLessThan(few * 8);
});
