import { expect, test } from 'vitest';
import { fc, forAll } from '../../../../../../test/support/property-runs.ts';
import { treeDiff } from './tree-diff.ts';

test('equal trees have no difference, whatever the order of their keys', () => {
  expect(treeDiff({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe('');
});

test('a change is shown with three lines around it', () => {
  const list = (changed: string) => Array.from({ length: 20 }, (_, n) => (n === 10 ? changed : `line ${n}`));
  expect(treeDiff(list('old'), list('new'))).toBe(
    `@@ -9,7 +9,7 @@
  "line 7",
  "line 8",
  "line 9",
- "old",
+ "new",
  "line 11",
  "line 12",
  "line 13",
`,
  );
});

test('changes far from each other are shown apart', () => {
  const list = (first: string, last: string) => [first, ...Array.from({ length: 20 }, (_, n) => `line ${n}`), last];
  expect(treeDiff(list('a', 'b'), list('c', 'd')).match(/^@@/gm)).toHaveLength(2);
});

test('applied to the first tree, a diff gives the second', () => {
  const trees = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
  forAll(trees, trees, (before, after) => {
    const lines = JSON.stringify(before, null, 1).split('\n');
    expect(patched(lines, treeDiff(before, after)).join('\n')).toBe(JSON.stringify(after, null, 1));
  });
});

function patched(lines: readonly string[], diff: string): string[] {
  const out: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(0, -1)) {
    const head = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (head) {
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      out.push(...lines.slice(at, start));
      at = start;
      continue;
    }
    if (line[0] !== '+') expect(lines[at++]).toBe(line.slice(1));
    if (line[0] !== '-') out.push(line.slice(1));
  }
  return [...out, ...lines.slice(at)];
}
