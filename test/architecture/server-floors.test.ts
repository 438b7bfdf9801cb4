/** The server is a stack of floors: each imports only those below it, and no folders of the server import each other in a circle. */
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const SERVER = 'src/server/';

/** Floors from the bottom to the top. A file of the room's root puts the floors together. */
const FLOORS = ['objects', 'outbound', 'access', 'operations', 'upkeep', 'serving'];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Imports of files of the server by others, types included; test files wire floors together. */
function importsWithin({ path, imports }: Source): Import[] {
  if (!path.startsWith(SERVER) || isTest(path)) return [];
  return imports
    .filter((target) => target.startsWith('.'))
    .map((target) => normalize(join(dirname(path), target)))
    .filter((target) => target.startsWith(SERVER))
    .map((to) => ({ from: path.slice(SERVER.length), to: to.slice(SERVER.length) }));
}

const floorOf = (path: string) => (path.includes('/') ? FLOORS.indexOf(path.split('/')[0]!) : FLOORS.length);

function upward(sources: readonly Source[]): string[] {
  return sources
    .flatMap(importsWithin)
    .filter(({ from, to }) => floorOf(to) > floorOf(from))
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Returns a folder of a floor, or a file outside of its folders. */
const folderOf = (path: string) => path.split('/').slice(0, 2).join('/');

/** The folders that import each other in a circle. */
function circles(sources: readonly Source[]): string[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of sources.flatMap(importsWithin)) {
    const [importer, imported] = [folderOf(from), folderOf(to)];
    if (importer === imported) continue;
    targets.set(importer, (targets.get(importer) ?? new Set()).add(imported));
  }
  // A folder that imports none of the remaining ones, or that none of them imports, is not part of a cycle.
  for (let removed = true; removed; ) {
    removed = false;
    const imported = new Set([...targets.values()].flatMap((each) => [...each]));
    for (const [folder, own] of targets) {
      for (const each of own) if (!targets.has(each)) own.delete(each);
      if (own.size === 0 || !imported.has(folder)) removed = targets.delete(folder);
    }
  }
  return [...targets].map(([folder, imported]) => `${folder} imports ${[...imported].join(', ')}`);
}

const sources = sourcesBelow('src/server');

test('every folder of the server is a floor', () => {
  expect(sources.length).toBeGreaterThan(300);
  const unknown = sources.map(({ path }) => path.slice(SERVER.length)).filter((path) => floorOf(path) < 0);
  expect(unknown).toEqual([]);
});

test('floors import only those below them', () => {
  expect(upward(sources)).toEqual([]);
});

test('no folders of the server import each other in a circle', () => {
  expect(circles(sources)).toEqual([]);
});

test.each([
  ['src/server/objects/cache/a.ts', "import type { Rbac } from '../../access/authz/rbac/rbac.ts';", 1],
  ['src/server/access/authn/a.ts', "const x = await import('../../serving/http/server.ts');", 1],
  ['src/server/serving/http/a.ts', "import { get } from '../../operations/verbs/get.ts';", 0],
  ['src/server/index.ts', "import { get } from './operations/verbs/get.ts';", 0],
  ['src/server/objects/cache/a.test.ts', "import { Server } from '../../index.ts';", 0],
])('%s with %s', (path, text, findings) => {
  expect(upward([{ path, ...analyse(text) }])).toHaveLength(findings);
});

test('a cycle of three folders is found', () => {
  const circle = [
    { path: 'src/server/objects/a/x.ts', ...analyse("import type { X } from '../b/x.ts';") },
    { path: 'src/server/objects/b/x.ts', ...analyse("import { X } from '../c.ts';") },
    { path: 'src/server/objects/c.ts', ...analyse("export { X } from './a/x.ts';") },
    { path: 'src/server/access/d/x.ts', ...analyse("import { X } from '../../objects/a/x.ts';") },
  ];
  expect(circles(circle)).toEqual([
    'objects/a imports objects/b',
    'objects/b imports objects/c.ts',
    'objects/c.ts imports objects/a',
  ]);
});
