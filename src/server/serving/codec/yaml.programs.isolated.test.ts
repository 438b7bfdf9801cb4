import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { heapUsed } from '../../../../test/support/heap.ts';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { DecodeError } from './decode-error.ts';
import { decodeYaml, encodeYaml, encodeYamlList, encodeYamlObject } from './yaml.ts';

const decode = (text: string, maxBodyBytes = 1_000_000) => decodeYaml(text, { maxDepth: 500, maxBodyBytes });

it('decodes manifests as their authors intended', async () => {
  const text = `
kind: Pod
on: yes
date: 2020-01-01
ports: 80:80
mode: 0644
many: 1_000
none: ~
1: number
base: &base {a: 1}
merged:
  <<: *base
  b: 2
binary: !!binary aGVsbG8=
text: |
  two
  lines
`;
  expect(await decode(text)).toEqual({
    kind: 'Pod',
    true: true,
    date: '2020-01-01',
    ports: '80:80',
    mode: 420,
    many: 1000,
    none: null,
    1: 'number',
    base: { a: 1 },
    merged: { a: 1, b: 2 },
    binary: 'aGVsbG8=',
    text: 'two\nlines\n',
  });
});

it('decodes JSON, too', async () => {
  await forAllAsync({ numRuns: 200 }, fc.jsonValue({ noUnicodeString: true }), async (value) => {
    const plain = JSON.parse(JSON.stringify(value));
    fc.pre(!JSON.stringify(plain).includes('__proto__'));
    expect(await decode(JSON.stringify(plain))).toEqual(plain);
  });
});

it('decodes the first document only', async () => {
  expect(await decode('a: 1\n---\nb: [\n')).toEqual({ a: 1 });
  expect(await decode('---\n'.repeat(200_000))).toBeNull();
});

it('copies aliased nodes', async () => {
  const value = (await decode('a: &a {x: 1}\nb: *a\n')) as { a: object; b: object };
  expect(value.b).toEqual({ x: 1 });
  expect(value.b).not.toBe(value.a);
});

it('uses the last anchor before an alias, and an anchor as often as the limit permits', async () => {
  expect(await decode('a: &a [&a x, *a]\nb: *a\n&a c: *a')).toEqual({ a: ['x', 'x'], b: 'x', c: 'c' });
  expect(await decode(`a: &a {x: 1}\nb: [${Array(500).fill('*a')}]`)).toHaveProperty('b.499', { x: 1 });
});

it('checks aliases in linear time', async () => {
  await decode('a: 1');
  const used = process.cpuUsage();
  await expect(decode(nestedAliases)).rejects.toThrow('excessive aliasing');
  expect(process.cpuUsage(used).user).toBeLessThan(1_000_000);
});

const laughs = (() => {
  let text = 'a0: &a0 [x,x,x,x,x,x,x,x,x]\n';
  for (let i = 1; i < 12; i++)
    text += `a${i}: &a${i} [${Array(9)
      .fill(`*a${i - 1}`)
      .join(',')}]\n`;
  return text;
})();

const merges = (() => {
  let text = 'a0: &a0 {k: v}\n';
  for (let i = 1; i < 30; i++) text += `a${i}: &a${i}\n  <<: [*a${i - 1}, *a${i - 1}]\n  k${i}: 1\n`;
  return text;
})();

/** A node with an anchor that contains many aliases. */
const nestedAliases = (() => {
  const anchors = Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} x\n`).join('');
  const aliases = Array.from({ length: 30 }, (_, i) => `*a${i} ,`.repeat(90)).join('');
  return `${anchors}b: &b [${aliases}x]\nc: *b\n`;
})();

const keys = Array.from({ length: 1_000 }, (_, i) => `  k${i}: 1\n`).join('');

it.each([
  ['two keys on a line', 'a: b: c\n', 'line 1: Nested mappings are not allowed'],
  ['tabs', 'a:\n\tb: c\n', 'line 2: Tabs are not allowed'],
  ['an open list', 'a: [1, 2\n', 'line 2:'],
  ['infinity', 'a: .inf', 'unsupported value: Infinity'],
  ['an unknown alias', 'a: *nobody', 'Unresolved alias'],
  ['a billion laughs', laughs, 'excessive aliasing'],
  ['a billion merges', merges, 'excessive aliasing'],
  ['a large text many times', `a: &a "${'x'.repeat(100_000)}"\nb: [${Array(90).fill('*a')}]`, 'excessive aliasing'],
  ['thousands of aliases', nestedAliases, 'excessive aliasing'],
  ['a large map many times', `a: &a\n${keys}b: [${Array(90).fill('*a')}]`, 'excessive aliasing'],
  ['a large map merged many times', `a: &a\n${keys}b:\n${'- <<: *a\n'.repeat(90)}`, 'excessive aliasing'],
  ['a large list as a key', `? &a [${'x,'.repeat(1_000)}x]\n: [${Array(90).fill('*a')}]`, 'excessive aliasing'],
  ['itself several times inside itself', 'a: &a [*a, *a, *a]\n', 'nested deeper than 500 levels'],
  ['itself inside itself', 'a: &a\n  b: *a\n', 'nested deeper than 500 levels'],
  ['deep lists', '['.repeat(50_000), 'nested deeper than 500 levels'],
  [
    'deep maps',
    Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    'nested deeper than 500 levels',
  ],
  ['deep lists in lists on a line', '- '.repeat(25_000), 'nested deeper than 500 levels'],
  ['anchors without end', '&a '.repeat(20_000), 'too many indicators in a row'],
  ['tags without end', '!a '.repeat(20_000), 'too many indicators in a row'],
  ['deep keys', '{? '.repeat(12_000), 'nested deeper than 500 levels'],
  ['more than the limit', `${'['.repeat(600)}${']'.repeat(600)}`, 'nested deeper than 500 levels'],
  ['too many values', 'k: v\n'.repeat(50_000), 'too many values'],
  ['hostile keys', '__proto__:\n  polluted: 1', 'the key "__proto__" is not allowed'],
  ['hostile keys deep inside', 'a: [{__proto__: {polluted: 1}}]', 'the key "__proto__" is not allowed'],
])('rejects: %s', async (_, text, message) => {
  const error = await decode(text).catch((caught: Error) => caught);
  expect(error).toBeInstanceOf(DecodeError);
  expect((error as Error).message).toMatch(/^error converting YAML to JSON: yaml: /);
  expect((error as Error).message).toContain(message);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

it('accepts the deepest allowed nesting', async () => {
  expect(await decode(`${'['.repeat(500)}${']'.repeat(500)}`)).toHaveLength(1);
  expect(await decode(`${'- '.repeat(500)}x`)).toHaveLength(1);
  expect(await decode(`${'- \n'.repeat(3_000)}- -1\n`)).toHaveLength(3_001);
  expect(await decode(`${'{a: '.repeat(500)}x${'}'.repeat(500)}`)).toHaveProperty('a');
  expect(await decode(Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'))).toHaveProperty('a');
});

it('survives deep nesting repeatedly', async () => {
  // Runs in a separate process, because V8 aborted it, and code that V8 compiled for other tests would hide that.
  const script = `
    const { decodeYaml } = await import(${JSON.stringify(join(import.meta.dirname, 'yaml.ts'))});
    const nested = (depth) => '['.repeat(depth) + ']'.repeat(depth);
    for (let i = 0; i < 10; i++) {
      for (const text of [nested(500), nested(501), '['.repeat(50_000), '{'.repeat(25_000), '- '.repeat(25_000)]) {
        await decodeYaml(text, { maxDepth: 500, maxBodyBytes: 1_000_000 }).catch(() => undefined);
      }
    }
    process.stdout.write('done');
  `;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
  expect(await promisify(execFile)(process.execPath, args)).toMatchObject({ stdout: 'done' });
});

it('encodes everything that it can decode', async () => {
  await forAllAsync({ numRuns: 200 }, fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
    const plain = JSON.parse(JSON.stringify(value));
    fc.pre(!JSON.stringify(plain).includes('__proto__'));
    expect(await decode((await encodeYaml(plain)).toString('utf8'))).toEqual(plain);
  });
});

const listOf = (items: readonly object[]) => ({ kind: 'List', apiVersion: 'v1', metadata: { x: '1' }, items });
const encodeList = async (items: readonly object[]) => {
  const encoded = items.map((item) => ({ json: () => Buffer.from(JSON.stringify({ kind: 'X', ...item })) }));
  return String(await encodeYamlList({ ...listOf([]), items: encoded }));
};

it('encodes a list item by item as it would encode all of it', async () => {
  const field = fc.oneof(fc.jsonValue(), fc.constantFrom('a\n\nb\n\n', 'a\n', '\n', ' a\n  b', '- x\n'));
  await forAllAsync(
    { numRuns: 200 },
    fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c d', '<'), field), { maxLength: 5 }),
    async (items) => {
      const plain = JSON.parse(JSON.stringify(items));
      fc.pre(!JSON.stringify(plain).includes('__proto__'));
      expect(await decode(await encodeList(plain))).toEqual(listOf(plain));
    },
  );
  const items = [{ metadata: { name: 'a', labels: {} }, data: { text: 'one\ntwo\n' } }, { metadata: { name: 'b' } }];
  expect(await encodeList(items)).toBe(String(await encodeYaml(listOf(items))));
  expect(await encodeList([])).toBe(String(await encodeYaml(listOf([]))));
});

it('encodes a list whose items have a kind', async () => {
  const items = [{ apiVersion: 'v1', kind: 'X', metadata: { name: 'a' } }];
  const encoded = items.map((item) => ({ json: () => Buffer.from(JSON.stringify(item)) }));
  const text = String(await encodeYamlList({ ...listOf([]), items: encoded, hasTypedItems: true }));
  expect(text).toBe(String(await encodeYaml(listOf(items))));
});

it('yields to other work while it encodes or decodes large text', async () => {
  const items = Array.from({ length: 1_000 }, (_, i) => ({ name: `${i}`, text: 'x'.repeat(1_000) }));
  expect(await turnsDuring(encodeList(items))).toBeGreaterThan(10);
  expect(await turnsDuring(decode('k: v\n'.repeat(8_000)))).toBeGreaterThan(5);
});

it('encodes a large object in flow style', async () => {
  const value = { a: 'x'.repeat(100_000), '<<': { b: [] } };
  const text = String(await encodeYamlObject(Buffer.from(JSON.stringify(value))));
  expect(text).toBe(`${JSON.stringify(value, null, 2)}\n`);
  expect(await decode(text)).toEqual(value);
});

async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isDone = true;
  return turns;
}

it('quotes a merge key so that it stays a key', async () => {
  const value = { a: { '<<': { b: 1 } }, '<<': [] };
  expect(await decode((await encodeYaml(value)).toString('utf8'))).toEqual(value);
});

it('quotes strings so that they stay strings', async () => {
  const text = (await encodeYaml({ a: 'yes', b: '1', c: '2020-01-01', d: '' })).toString('utf8');
  expect(text).toBe('a: "yes"\nb: "1"\nc: "2020-01-01"\nd: ""\n');
});

it('does not keep the document alive with its values', async () => {
  const kept: unknown[] = [await decode('a: b')];
  const before = heapUsed();
  for (let i = 0; i < 40; i++) {
    kept.push(await decode(`value: the value of object number ${i}\n# ${'x'.repeat(1_000_000)}\n`));
  }
  expect(kept).toHaveLength(41);
  expect(heapUsed() - before).toBeLessThan(10_000_000);
});

it('builds an object from a large document over several turns of the event loop', async () => {
  await decode('a: 1');
  let turns = 0;
  let isDecoded = false;
  const count = () => {
    turns++;
    if (!isDecoded) setImmediate(count);
  };
  setImmediate(count);
  await decode(`a: ${'x'.repeat(100_000)}\nb: 1\n`);
  isDecoded = true;
  expect(turns).toBeGreaterThanOrEqual(3);
});

it('decodes large documents one after the other, so that they do not add up in a turn', async () => {
  const ended: string[] = [];
  const pairs = (count: number) => Array.from({ length: count }, (_, i) => `key-${i}: value\n`).join('');
  const end = (name: string, text: string) => decode(text).then(() => ended.push(name));
  await Promise.all([end('longest', pairs(7_000)), end('shorter', pairs(5_000)), end('small', 'a: 1')]);
  expect(ended).toEqual(['small', 'longest', 'shorter']);
  await expect(Promise.all([decode(`a: [${'x'.repeat(100_000)}`), decode(pairs(5_000))])).rejects.toThrow(DecodeError);
  expect(await decode(`a: ${'x'.repeat(100_000)}`)).toHaveProperty('a');
});
