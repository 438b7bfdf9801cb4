/**
 * Imports point one way, and components reach each other only through the API. There is no list of exceptions: a room that
 * needs more of another declares the narrow interface it needs, and assembly/ brings the two together.
 */
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const COMPONENT = ['base', 'protocols', 'api', 'schema', 'kinds', 'client'];
const EVERYTHING_BELOW = [
  ...[...COMPONENT, 'store', 'backup', 'server', 'controllers', 'scheduler', 'node', 'network', 'federation'],
];

/** Rooms that each room may import from, besides itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  protocols: ['base'],
  schema: ['base'],
  cel: ['base'],
  'json-schema': ['base', 'schema', 'cel'],
  'cel-kubernetes': ['base', 'schema', 'cel', 'json-schema'],
  kinds: ['base', 'protocols', 'schema', 'cel', 'cel-kubernetes', 'json-schema'],
  api: ['base', 'protocols', 'kinds'],
  store: ['base', 'protocols'],
  backup: ['base', 'protocols', 'store'],
  server: ['base', 'protocols', 'schema', 'cel', 'cel-kubernetes', 'kinds', 'api', 'store'],
  client: ['base', 'protocols', 'schema', 'kinds', 'api'],
  controllers: COMPONENT,
  scheduler: COMPONENT,
  node: COMPONENT,
  network: COMPONENT,
  federation: COMPONENT,
  assembly: EVERYTHING_BELOW,
  testing: [...EVERYTHING_BELOW, 'assembly'],
  cli: [...EVERYTHING_BELOW, 'assembly'],
};

/** Imports that point the wrong way, as `file imports target`. */
function wrongWay(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter((target) => target.startsWith('.'))
      .map((target) => normalize(join(dirname(path), target)))
      .filter((target) => !isAllowed(path, target))
      .map((target) => `${path} imports ${target}`),
  );
}

function isAllowed(path: string, target: string): boolean {
  // The release's number stands there.
  if (target === 'package.json') return roomOf(path) === 'cli';
  const to = roomOf(target);
  // A test wires rooms together, as assembly/ does, with what test/ has for it.
  if (isTest(path)) return to !== undefined || target.startsWith('test/');
  const from = roomOf(path);
  return from !== undefined && to !== undefined && (from === to || ROOMS[from]!.includes(to));
}

function roomOf(path: string): string | undefined {
  const room = /^src\/([^/]+)\//.exec(path)?.[1];
  return room !== undefined && room in ROOMS ? room : undefined;
}

test('imports point one way', () => {
  const sources = sourcesBelow('src');
  expect(sources.length).toBeGreaterThan(50);
  expect(wrongWay(sources)).toEqual([]);
});

test('every folder of src is a room of the design', () => {
  const unknown = sourcesBelow('src').filter(({ path }) => roomOf(path) === undefined);
  expect(unknown.map(({ path }) => path)).toEqual([]);
});

test.each([
  ['src/store/a.ts', "import { x } from '../kinds/kind.ts';", ['src/store/a.ts imports src/kinds/kind.ts']],
  ['src/client/a.ts', "import type { x } from '../server/index.ts';", ['src/client/a.ts imports src/server/index.ts']],
  [
    'src/controllers/a.ts',
    "const x = await import('../store/store.ts');",
    ['src/controllers/a.ts imports src/store/store.ts'],
  ],
  ['src/node/a.ts', "export * from '../scheduler/a.ts';", ['src/node/a.ts imports src/scheduler/a.ts']],
  ['src/base/a.ts', "import '../schema/schema.ts';", ['src/base/a.ts imports src/schema/schema.ts']],
  ['src/kinds/a.ts', "type X = import('../../test/x.ts').X;", ['src/kinds/a.ts imports test/x.ts']],
  ['src/kinds/core/a.ts', "import {\n  s,\n} from '../../schema/builders.ts'; // from '../../server/api.ts'", []],
  [
    'src/node/a.ts',
    "import { x } from '../assembly/node/start-node.ts';",
    ['src/node/a.ts imports src/assembly/node/start-node.ts'],
  ],
  ['src/assembly/a.ts', "import { x } from '../cli/up/flags.ts';", ['src/assembly/a.ts imports src/cli/up/flags.ts']],
  ['src/testing/a.ts', "import { x } from '../cli/up/flags.ts';", ['src/testing/a.ts imports src/cli/up/flags.ts']],
  ['src/testing/a.ts', "import { x } from '../assembly/control-plane/start-control-plane.ts';", []],
  ['src/cli/a.ts', "import { up } from './up/up.ts'; import { h } from '../server/index.ts';", []],
])('%s with %s', (path, text, expected) => {
  expect(wrongWay([{ path, ...analyse(text) }])).toEqual(expected);
});
