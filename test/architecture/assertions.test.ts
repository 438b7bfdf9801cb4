/**
 * Requires that every test can fail, because it asserts something or waits for a condition, and that none waits for
 * time to pass.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, filesBelow, root } from './source.ts';

/** Calls that can fail; `eventually` and `until` do when their condition does not come true. */
const ASSERTION = /\b(?:expect\w*|assert|forAll\w*|eventually|until\w*)\b/;
const TEST = /(?<![.\w])(?:it|test)(?!\.skip\()(?=[.(<`])/g;
const SLEEP = /(?<![.\w])(?:setTimeout|setInterval)\b/;
const REGEXP = /(?<=(?:[(,=:!&|?;[]|=>)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g;
/** A function that is declared, or assigned to a name. */
const HELPER = /\b(?:function\*?\s+(\w+)|(?:const|let)\s+(\w+)\s*=\s*(?:async\b\s*)?(?=[(\w<]))/g;

/** Lines of tests without an assertion, in themselves or in a function of the same file that they use. */
function without(text: string): number[] {
  const code = codeOf(text);
  const helpers = [...code.matchAll(HELPER)]
    .filter((match) => ASSERTION.test(statementAt(code, match.index)))
    .map(([, declared, assigned]) => declared ?? assigned!);
  const asserting = new RegExp(`${ASSERTION.source}|\\b(?:${['expect', ...helpers].join('|')})\\b`);
  return [...code.matchAll(TEST)]
    .map(({ index }) => ({ index, body: statementAt(code, index) }))
    .filter(({ body }) => body.includes('=>') && !asserting.test(body))
    .map(({ index }) => code.slice(0, index).split('\n').length);
}

/** Returns the code without comments, strings and regular expressions, whose quotes would look like strings. */
function codeOf(text: string): string {
  return analyse(text.replace(REGEXP, '0')).code;
}

/** Returns the text from a position to the end of its statement: the next semicolon or blank line outside brackets. */
function statementAt(code: string, start: number): string {
  let depth = 0;
  for (let i = start; i < code.length; i++) {
    const char = code[i]!;
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) {
      depth--;
      // A declared function ends with its body.
      if (depth < 0 || (depth === 0 && char === '}' && code.startsWith('function', start)))
        return code.slice(start, i + 1);
    } else if (char === ';' && depth === 0) return code.slice(start, i);
  }
  return code.slice(start);
}

test('every test asserts something', () => {
  const files = [
    ...['src', 'test'].flatMap((folder) => filesBelow(folder, '.test.ts')),
    ...filesBelow('test/support', '.ts'),
  ];
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((path) =>
    without(readFileSync(join(root, path), 'utf8')).map((line) => `${path}:${line}`),
  );
  expect(found).toEqual([]);
});

test('no test sleeps: it waits for an event or advances a clock', () => {
  const files = [
    ...['src', 'test'].flatMap((folder) => filesBelow(folder, '.test.ts')),
    ...filesBelow('test/support', '.ts'),
  ];
  const found = files.filter((path) => SLEEP.test(codeOf(readFileSync(join(root, path), 'utf8'))));
  expect(found).toEqual([]);
});

test.each([
  ["test('x', () => { run(); });", 1],
  ["test('x', () => { expect(run()).toBe(1); });", 0],
  ["it.each([1, 2])('x', async (n) => { await run(n); });", 1],
  ["const check = (n: number) => expect(n).toBe(1);\nit('x', () => check(1));", 0],
  [
    "async function check() {\n  await expect(run()).resolves.toBe(1);\n}\nit('x', async () => {\n  await check();\n});",
    0,
  ],
  ["it('x', async () => { await cluster.eventually(isReady); });", 0],
  ["it('x', () => { run(); // expect\n });", 1],
])('%s', (text, count) => {
  expect(without(text)).toHaveLength(count);
});
