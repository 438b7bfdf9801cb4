/** With a real pipe, whose other end is read by another process or by nobody. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { LineOutput } from './line-output.ts';

const droppedLine = (count: number) => `dropped ${count}\n`;
const line = (i: number) => `${i} ${'x'.repeat(9_000)}\n`;

let reader: ChildProcess | undefined;
afterEach(() => {
  reader?.kill('SIGKILL');
});

/** A reader that starts when it is told to, and the end of the pipe that does not wait for it. */
function outputTo(script: string) {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
  reader = child;
  const { fd } = (child.stdin as unknown as { _handle: { fd: number } })._handle;
  return { child, output: new LineOutput(fd, { droppedLine }) };
}

const READS_WHEN_TOLD = `
process.once('message', () => process.stdin.pipe(process.stdout));
process.send('ready');
`;

async function linesOf({ stdout }: ChildProcess, count: number): Promise<string[]> {
  let text = '';
  for await (const chunk of stdout!) {
    text += chunk;
    if (text.split('\n').length > count) break;
  }
  return text.split('\n').slice(0, -1);
}

test('what a reader takes is written at once', async () => {
  const { child, output } = outputTo('process.stdin.pipe(process.stdout)');
  output.write('a\n');
  output.write('b\n');
  expect(await linesOf(child, 2)).toEqual(['a', 'b']);
});

test('a reader that is late stops nobody, and gets every line in order', async () => {
  const { child, output } = outputTo(READS_WHEN_TOLD);
  await once(child, 'message');
  for (let i = 0; i < 100; i++) output.write(line(i));
  child.send('read');
  const lines = await linesOf(child, 100);
  expect(lines.map((each) => Number(each.split(' ')[0]))).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test('beyond a limit lines are dropped, and the reader is told how many', async () => {
  const { child, output } = outputTo(READS_WHEN_TOLD);
  await once(child, 'message');
  for (let i = 0; i < 1_000; i++) output.write(line(i));
  child.send('read');
  let text = '';
  for await (const chunk of child.stdout!) {
    text += chunk;
    if (/^dropped \d+\n/m.test(text)) break;
  }
  const lines = text.split('\n').slice(0, -1);
  const kept = lines.length - 1;
  expect(lines.at(-1)).toBe(`dropped ${1_000 - kept}`);
  expect(kept).toBeGreaterThan(300);
  expect(lines.slice(0, -1).map((each) => Number(each.split(' ')[0]))).toEqual(
    Array.from({ length: kept }, (_, i) => i),
  );
});

test('a reader that has gone is no error', async () => {
  const { child, output } = outputTo('');
  await once(child, 'exit');
  expect(() => output.write(line(0))).not.toThrow();
  expect(() => output.write(line(1))).not.toThrow();
});

test('the end waits for the reader', async () => {
  const { child, output } = outputTo(READS_WHEN_TOLD);
  await once(child, 'message');
  for (let i = 0; i < 30; i++) output.write(line(i));
  child.send('read');
  // The message must leave before this thread waits.
  await new Promise((resolve) => setImmediate(resolve));
  output.finish();
  expect(await linesOf(child, 30)).toHaveLength(30);
});
