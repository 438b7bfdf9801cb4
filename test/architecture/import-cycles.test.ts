/**
 * Requires that no source file imports itself through others, not even for a type or at run time: a reader can start
 * anywhere.
 */
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

/** Groups of files that import each other, each sorted (Tarjan's strongly connected components). */
function cycles(sources: readonly Source[]): string[][] {
  const paths = new Set(sources.map(({ path }) => path));
  const importsOf = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports
        .filter((target) => target.startsWith('.'))
        .map((target) => normalize(join(dirname(path), target)))
        .filter((target) => paths.has(target)),
    ]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    stack.push(path);
    for (const next of importsOf.get(path)!) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(next)!));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1 || importsOf.get(path)!.includes(path)) found.push(group.sort());
  };
  for (const { path } of sources) if (!order.has(path)) visit(path);
  return found;
}

test('no file imports itself through others', () => {
  const sources = sourcesBelow('src').filter(({ path }) => !isTest(path));
  expect(sources.length).toBeGreaterThan(50);
  expect(cycles(sources)).toEqual([]);
});

test('types and what is loaded later count', () => {
  const source = (path: string, text: string) => ({ path, ...analyse(text) });
  const a = source('src/a.ts', "import type { B } from './b.ts';");
  const b = source('src/b.ts', "const c = () => import('./c/c.ts');");
  const c = source('src/c/c.ts', "export * from '../a.ts';");
  const d = source('src/d.ts', "import { a } from './a.ts';");
  expect(cycles([a, b, c, d])).toEqual([['src/a.ts', 'src/b.ts', 'src/c/c.ts']]);
  expect(cycles([a, b, d])).toEqual([]);
  expect(cycles([source('src/e.ts', "import './e.ts';")])).toEqual([['src/e.ts']]);
});
