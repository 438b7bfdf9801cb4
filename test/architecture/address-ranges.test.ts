/** Test files run beside each other on one machine: clusters with real pods need ranges of addresses that no other has. */
import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, root } from './source.ts';

const RANGE = /(?:cidr|range)['`:,\s]+['`](?<address>\d+\.\d+\.\d+\.\d+)\/(?<length>\d+)['`]/gi;
const STARTS_CLUSTERS = /^test\/(?:e2e|isolation)\/.*\.programs\./;

/** Programs that end before they start anything. */
const ENDING = ['test/e2e/rejected-flags.programs.test.ts'];

interface Used {
  readonly path: string;
  readonly address: string;
  readonly length: number;
}

function rangesOf(path: string): Used[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(RANGE)].map(({ groups }) => ({
    path,
    address: groups!.address!,
    length: Number(groups!.length),
  }));
}

function overlap(one: Used, other: Used): boolean {
  const [wide, narrow] = one.length < other.length ? [one, other] : [other, one];
  const list = new BlockList();
  list.addSubnet(wide.address, wide.length);
  return list.check(narrow.address);
}

test('files with real clusters share no range', () => {
  const used = filesBelow('test', '.test.ts')
    .filter((path) => STARTS_CLUSTERS.test(path) && !ENDING.includes(path))
    .flatMap(rangesOf);
  const shared = used.flatMap((one, i) =>
    used
      .slice(i + 1)
      .filter((other) => other.path !== one.path && overlap(one, other))
      .map((other) => [one, other]),
  );
  expect(shared).toEqual([]);
  expect(used.length).toBeGreaterThan(20);
});
