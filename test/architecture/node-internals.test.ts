/**
 * Requires that only src/server/serving/http/node-internals.ts relies on undocumented behaviour of Node: its
 * assumptions are tested on every release.
 */
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const HOME = 'src/server/serving/http/node-internals.ts';

const INTERNALS = [
  // Fields that Node marks as private.
  /\._[a-z]\w*/i,
  /[{,]\s*_(?:handle|httpMessage|readableState|writableState|events|parent|server)\b/,
  /\bprocess\.binding\b/,
  /\bgetOwnPropertySymbols\b/,
  // Methods that are public in name only, and taking away the listeners that Node has added.
  /\.(?:assignSocket|detachSocket|removeAllListeners)\b/,
  /\bshouldUpgradeCallback\b/,
];

function uses({ path, code }: Source): string[] {
  return INTERNALS.flatMap((pattern) => pattern.exec(code)?.[0] ?? []).map((found) => `${path}: ${found}`);
}

test("only one file relies on Node's internals", () => {
  const sources = sourcesBelow('src').filter(({ path }) => !isTest(path));
  expect(sources.filter(({ path }) => path === HOME).flatMap(uses)).not.toEqual([]);
  expect(sources.filter(({ path }) => path !== HOME).flatMap(uses)).toEqual([]);
});

test.each([
  ['socket._handle?.writeQueueSize', 1],
  ['const { _readableState: state } = socket;', 1],
  ["server.removeAllListeners('connection');", 1],
  ['response.assignSocket(socket);', 1],
  ['const { body: _, ...rest } = call;', 0],
  ["const pattern = '[-._a-zA-Z0-9]+';", 0],
])('%s', (text, findings) => {
  expect(uses({ path: 'src/x.ts', ...analyse(text) })).toHaveLength(findings);
});
