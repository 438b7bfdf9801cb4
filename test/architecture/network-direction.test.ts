/**
 * Requires that, inside the network room, the deciding parts do not import the applying ones, and the privileged part
 * imports none of the others.
 */
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

/** Parts of the room that each part may import from, besides itself. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  rules: [],
  policy: [],
  kernel: [],
  routes: ['kernel'],
  nftables: ['rules', 'policy', 'kernel'],
  userspace: ['rules'],
  proxy: ['rules', 'policy', 'routes', 'kernel', 'nftables', 'userspace'],
  dns: [],
  ingress: [],
  daemon: ['rules', 'userspace', 'dns', 'ingress'],
};
/** Parts that decide, and therefore use no part of Node. */
const PURE = ['rules', 'policy', 'routes'];

const partOf = (path: string) => /^src\/network\/([^/]+)\//.exec(path)?.[1];

function wrongWay({ path, imports }: Source): string[] {
  const from = partOf(path);
  if (from === undefined || isTest(path)) return [];
  const allowed = PARTS[from];
  if (!allowed) return [`${path} is in no part of the room`];
  return imports
    .filter((target) => {
      if (target.startsWith('node:')) return PURE.includes(from);
      const to = partOf(normalize(join(dirname(path), target)));
      return to !== undefined && to !== from && !allowed.includes(to);
    })
    .map((target) => `${path} imports ${target}`);
}

test('the parts of the network room import in one direction', () => {
  expect(sourcesBelow('src').flatMap(wrongWay)).toEqual([]);
});

test.each([
  ['src/network/rules/a.ts', "import { x } from '../nftables/x.ts';", 1],
  ['src/network/rules/a.ts', "import { readFile } from 'node:fs';", 1],
  ['src/network/kernel/a.ts', "import type { RuleSet } from '../rules/rule-set.ts';", 1],
  ['src/network/nftables/a.ts', "import type { RuleSet } from '../rules/rule-set.ts';", 0],
  ['src/network/userspace/a.ts', "import { createServer } from 'node:net';", 0],
  ['src/network/other/a.ts', 'export const a = 1;', 1],
])('%s with %s', (path, text, findings) => {
  expect(wrongWay({ path, ...analyse(text) })).toHaveLength(findings);
});
