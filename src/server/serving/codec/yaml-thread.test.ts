/** The thread and its owner at two ends of a channel; the last tests use a real thread. */
import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { ControlledClock } from '../../../base/time/clock.ts';
import { DecodeError } from './decode-error.ts';
import { type DecodeYaml, decodeDocument } from './yaml.ts';
import { serveYamlThread, YamlThread, type YamlWorker } from './yaml-thread.ts';

const limits = { maxDepth: 500, maxBodyBytes: 1_000_000 };
const open: { close(): void }[] = [];

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** Channels whose other ends decode, in place of threads. */
function channels(): { start(): YamlWorker; started: number; terminated: number } {
  const counts = {
    started: 0,
    terminated: 0,
    start(): YamlWorker {
      counts.started++;
      const { port1, port2 } = new MessageChannel();
      serveYamlThread(port2);
      open.push(port1);
      const terminate = async () => {
        counts.terminated++;
        port1.close();
      };
      return Object.assign(port1, { terminate }) as unknown as YamlWorker;
    },
  };
  return counts;
}

/** Collects the result and the reports that a caller receives. */
async function outcome(decode: DecodeYaml, text: string) {
  const found: Record<string, readonly string[]> = {};
  const reports = {
    onDuplicates: (paths: readonly string[]) => void Object.assign(found, { paths }),
    onRepeatedKeys: (faults: readonly string[]) => void Object.assign(found, { faults }),
  };
  try {
    return { value: await decode(text, { ...limits, ...reports }), ...found };
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
    const { message, redacted } = error as DecodeError;
    return { message, redacted, ...found };
  }
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

it.each([
  ['a manifest', 'kind: Pod\non: yes\ndate: 2020-01-01\nmode: 0644\nnone: ~\n1: x\ntext: |\n  two\n  lines\n'],
  ['nothing', ''],
  ['a scalar', '5'],
  ['the first document', 'a: 1\n---\nb: [\n'],
  ['characters', 'a: "\\u0001\\ud800 é €\\n"\nb: 🙂'],
  ['aliases and merges', 'a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  y: 2\n'],
  ['duplicates', 'a: 1\nb:\n- c: 1\n  c: 2\na: 3\n'],
  ['deep nesting', nested(500)],
  ['too deep nesting', nested(501)],
  ['much too deep nesting', '['.repeat(50_000)],
  ['itself inside itself', 'a: &a\n  b: *a\n'],
  ['an unknown alias', 'a: *nobody'],
  ['a large text many times', `a: &a "${'x'.repeat(100_000)}"\nb: [${Array(90).fill('*a')}]`],
  ['two keys on a line', 'password: swordfish: oops\n'],
  ['infinity', 'a: .inf'],
  ['a hostile key', 'a: [{__proto__: {polluted: 1}}]'],
])('decodes as the event loop does: %s', async (_, text) => {
  const thread = new YamlThread({ ...channels(), clock: new ControlledClock() });
  const inThread = await outcome((...args) => thread.decode(...args), text);
  expect(inThread).toEqual(await outcome(decodeDocument, text));
});

it('decodes documents that are too large for the event loop, up to a limit', async () => {
  const thread = new YamlThread({ ...channels(), clock: new ControlledClock() });
  const pairs = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: v\n`).join('');
  await expect(decodeDocument(pairs(10_000), limits)).rejects.toThrow('too many values');
  expect(Object.keys((await thread.decode(pairs(10_000), limits)) as object)).toHaveLength(10_000);
  await expect(thread.decode('#\n'.repeat(130_000), limits)).rejects.toThrow(
    /^error converting YAML to JSON: yaml: document has too many values: send it as JSON$/,
  );
});

it('rejects text that would be much longer as JSON', async () => {
  const thread = new YamlThread({ ...channels(), clock: new ControlledClock() });
  const text = (char: string) => `a: |\n  ${char.repeat(900_000)}\n`;
  await expect(thread.decode(text('\u0001'), limits)).rejects.toThrow('yaml: document is too large as JSON');
  expect(await thread.decode(text('"'), limits)).toEqual({ a: `${'"'.repeat(900_000)}\n` });
});

it('runs one thread while there is work, and another one after a pause', async () => {
  const clock = new ControlledClock();
  const counts = channels();
  const thread = new YamlThread({ start: counts.start, clock });
  expect(counts.started).toBe(0);
  expect(
    await Promise.all(['a: 1', 'a: 2', 'a: ['].map((text) => thread.decode(text, limits).catch(() => 'no'))),
  ).toEqual([{ a: 1 }, { a: 2 }, 'no']);
  await clock.advance(9_000);
  await thread.decode('a: 1', limits);
  await clock.advance(9_000);
  expect(counts).toMatchObject({ started: 1, terminated: 0 });
  await clock.advance(1_000);
  expect(counts).toMatchObject({ started: 1, terminated: 1 });
  expect(clock.waiting).toBe(0);
  expect(await thread.decode('a: 1', limits)).toEqual({ a: 1 });
  await thread.close();
  expect(counts).toMatchObject({ started: 2, terminated: 2 });
});

/** Starts threads that never answer, and after them threads that do. */
function silentFirst(
  counts: ReturnType<typeof channels>,
  silent = 1,
): { start(): YamlWorker; readonly asked: string[] } {
  const asked: string[] = [];
  let started = 0;
  return {
    asked,
    start() {
      if (++started > silent) return counts.start();
      return {
        postMessage: ({ text }) => void asked.push(text),
        on: () => {},
        terminate: async () => counts.terminated++,
      };
    },
  };
}

it('ends a thread that takes too long, only for the text that it was decoding', async () => {
  const clock = new ControlledClock();
  const counts = channels();
  const { start, asked } = silentFirst(counts);
  const thread = new YamlThread({ start, clock });
  const endless = thread.decode('a: endless', limits).catch((error: unknown) => error);
  const waiting = thread.decode('a: 1', limits);
  await clock.advance(10_000);
  expect(await endless).toEqual(
    new DecodeError('error converting YAML to JSON: yaml: document takes too long to decode: send it as JSON'),
  );
  expect(await waiting).toEqual({ a: 1 });
  expect(asked).toEqual(['a: endless']);
  expect(counts).toMatchObject({ started: 1, terminated: 1 });
});

it('asks clients to retry later when the queue is full', async () => {
  const clock = new ControlledClock();
  const thread = new YamlThread({ start: silentFirst(channels()).start, clock });
  const large = `a: ${'x'.repeat(900_000)}`;
  const waiting = Array.from({ length: 37 }, () => thread.decode(large, limits));
  const first = expect(waiting[0]).rejects.toThrow('too long');
  await expect(thread.decode(large, limits)).rejects.toMatchObject({
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
  });
  await clock.advance(10_000);
  await first;
  expect(await Promise.all(waiting.slice(1))).toHaveLength(36);
  expect(await thread.decode(large, limits)).toHaveProperty('a');
});

it('asks clients that have waited for long to retry', async () => {
  const clock = new ControlledClock();
  const counts = channels();
  const thread = new YamlThread({ start: silentFirst(counts, 4).start, clock });
  const all = ['a', 'b', 'c', 'd', 'e'].map((text) => thread.decode(text, limits));
  const settled = Promise.allSettled(all);
  await clock.advance(29_000);
  const late = thread.decode('late', limits);
  await clock.advance(11_000);
  const reasons = (await settled).map((each) => each.status === 'rejected' && each.reason.message);
  expect(reasons.slice(0, 4)).toEqual(Array(4).fill(expect.stringContaining('too long')));
  expect(reasons[4]).toContain('too many large YAML bodies');
  expect(await late).toBe('late');
});

/** Starts a real thread that runs a script, and then one that decodes. */
function crashingFirst(script: string) {
  const counts = channels();
  let isFirst = true;
  return () => {
    if (!isFirst) return counts.start();
    isFirst = false;
    return new Worker(script, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 10 } }) as YamlWorker;
  };
}

it.each([
  [
    'out of memory',
    "require('node:worker_threads').parentPort.on('message', () => { const all = []; for (;;) all.push({ all }); })",
    'error converting YAML to JSON: yaml: document takes too much memory to decode: send it as JSON',
  ],
  ['an error', "require('node:worker_threads').parentPort.on('message', () => { throw new Error('a bug') })", 'a bug'],
  ['an end', "require('node:worker_threads').parentPort.once('message', () => process.exit(0))", 'has ended'],
])('affects only one text: %s', async (_, script, message) => {
  const thread = new YamlThread({ start: crashingFirst(script), clock: new ControlledClock() });
  const [failed, waited] = await Promise.allSettled([thread.decode('a: 1', limits), thread.decode('a: 2', limits)]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining(message) } });
  expect(waited).toEqual({ status: 'fulfilled', value: { a: 2 } });
});

it('rejects pending texts when it is closed', async () => {
  const worker = new Worker("require('node:worker_threads').parentPort.on('message', () => {})", { eval: true });
  const thread = new YamlThread({ start: () => worker as YamlWorker, clock: new ControlledClock() });
  const decoding = expect(thread.decode('a: 1', limits)).rejects.toThrow('was ended');
  await once(worker, 'online');
  await thread.close();
  await decoding;
});
