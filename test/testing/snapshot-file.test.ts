/** Tests edited snapshots, which are text: whatever its header says, one is rejected with the reason, or it works. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../../src/testing/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'snapshot-file-'));
const file = join(directory, 'edited');
afterAll(() => rmSync(directory, { recursive: true }));

let header: { readonly about: Readonly<Record<string, unknown>> };
let objects: readonly string[];
beforeAll(async () => {
  const cluster = await Cluster.start({ nodes: 1 });
  await (await cluster.snapshot()).save(file);
  await cluster.stop();
  const [first, ...lines] = readFileSync(file, 'utf8').split('\n');
  header = JSON.parse(first!);
  objects = lines;
});

const NOTHING = Symbol('a field that is missing');
const VALUES: readonly unknown[] = [
  ...[NOTHING, null, true, '', 'x', '1', '__proto__', 'x'.repeat(5000)],
  ...[0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 50, Number.MAX_SAFE_INTEGER, 1e308, -1e308],
  ...[[], [1], [null], ['a', 'a'], ['A/b'], [''], ['x'.repeat(300)], [['a']]],
  ...[{}, { pods: 1 }, { pods: [null] }, { pods: [{ stages: { pull: 'soon' } }] }, { length: 3 }, { nodes: ['a'] }],
];
const MAX_MESSAGE_CHARACTERS = 400;

const edit = (change: (about: Record<string, unknown>, head: Record<string, unknown>) => void) => {
  const about = { ...header.about };
  const head = { ...header, about };
  change(about, head);
  writeFileSync(file, [JSON.stringify(head), ...objects].join('\n'));
};

const set = (target: Record<string, unknown>, field: string, value: unknown) => {
  if (value === NOTHING) delete target[field];
  else target[field] = value;
};

/** Returns the error in the file; undefined when a cluster starts from it and works. */
async function complaint(): Promise<string | undefined> {
  const started = await Cluster.start({ from: file }).catch((error: unknown) => error as Error);
  if (started instanceof Error) {
    expect(started.constructor, started.stack).toBe(Error);
    expect(started.message.length).toBeLessThan(MAX_MESSAGE_CHARACTERS);
    return started.message;
  }
  try {
    await started.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
    const snapshot = await started.snapshot();
    expect(snapshot.time.toISOString()).toMatch(/^\d{4}-/);
    await snapshot.save(file);
    await (await Cluster.start({ from: file })).stop();
    return undefined;
  } finally {
    await started.stop();
  }
}

const HEAD: readonly [field: string, accepted: readonly unknown[]][] = [
  ['snapshot', []],
  ['format', []],
  ['revision', [2 ** 31, 2 ** 32, 2 ** 50]],
  ['objects', []],
  ['about', []],
];
const ABOUT: readonly [field: string, accepted: readonly unknown[]][] = [
  ['seed', [0, 2 ** 31]],
  ['random', [0, -1, 2 ** 31]],
  ['now', [0, -1, 1.5, 2 ** 31, 2 ** 32]],
  ['nodes', [[]]],
  ['simulation', [{}]],
];
const PROBLEM = (field: string) => (field === 'snapshot' ? `${file} is not a snapshot of a test cluster` : field);

describe('the header of a saved snapshot', () => {
  it.each(HEAD)('%s is checked', async (field, accepted) => {
    for (const value of VALUES) {
      edit((_, head) => set(head, field, value));
      const found = await complaint();
      if (accepted.includes(value)) expect(found, String(value)).toBeUndefined();
      else expect(found, `${field}: ${String(value)}`).toEqual(expect.stringContaining(PROBLEM(field)));
      if (found !== undefined) expect(found).toContain(file);
    }
  });

  it.each(ABOUT)('about.%s is checked', async (field, accepted) => {
    const works = accepted.map((value) => JSON.stringify(value));
    for (const value of VALUES) {
      edit((about) => set(about, field, value));
      const found = await complaint();
      if (works.includes(JSON.stringify(value))) expect(found, JSON.stringify(value)).toBeUndefined();
      else {
        const start = `${file} is damaged: line 1: about.${field} `;
        expect(found, `${field}: ${JSON.stringify(value)}`).toEqual(expect.stringContaining(start));
      }
    }
  });

  it.each(['', 'null', '[]', '1', '"x"', '{', '\0\x01'])('%j is none', async (text) => {
    writeFileSync(file, [text, ...objects].join('\n'));
    expect(await complaint()).toBe(PROBLEM('snapshot'));
  });

  it('objects that are newer than the snapshot are rejected', async () => {
    edit((_, head) => set(head, 'revision', 1));
    expect(await complaint()).toMatch(/line \d+ is of revision \d+, and line 1 of 1$/);
  });
});

it.each([Number.NaN, 1e300, -1e300, 'soon', new Date(Number.NaN)])('a cluster cannot start at %s', async (now) => {
  await expect(Cluster.start({ now })).rejects.toThrow('is not a time from the year 1 to 9999');
});
