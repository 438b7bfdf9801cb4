import { execFileSync } from 'node:child_process';
import { appendFile, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import { silent } from '../../base/log.ts';
import type { Container } from '../runtime/runtime.ts';
import { EntryReader } from './entries.ts';
import { type LogSelection, readLog } from './read-log.ts';
import { removeLogs, rotateLog, rotateLogs } from './rotate.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = temporaryDirectory();
  path = join(folder, '0.log');
});
const ALL: LogSelection = {
  ...{ follow: false, timestamps: false, since: undefined, stream: undefined },
  ...{ tailLines: undefined, limitBytes: undefined },
};

const ENDED = Promise.resolve();

async function read(selection: Partial<LogSelection> = {}): Promise<string> {
  return text(readLog({ path, ended: ENDED }, { ...ALL, ...selection }));
}

const time = (second: number) => new Date(Date.UTC(2030, 0, 1) + second * 1000).toISOString();
const line = (second: number, text: string, stream = 'stdout', tag = 'F') =>
  `${time(second)} ${stream} ${tag} ${text}\n`;

describe('a log', () => {
  const LINES = [line(1, 'one'), line(2, 'two', 'stderr'), line(3, ''), line(4, 'four')].join('');

  it.each<[Partial<LogSelection>, string]>([
    [{}, 'one\ntwo\n\nfour\n'],
    [{ tailLines: 2 }, '\nfour\n'],
    [{ tailLines: 0 }, ''],
    [{ tailLines: 100 }, 'one\ntwo\n\nfour\n'],
    [{ limitBytes: 5 }, 'one\nt'],
    [{ limitBytes: 1000 }, 'one\ntwo\n\nfour\n'],
    [{ since: Date.UTC(2030, 0, 1, 0, 0, 3) }, '\nfour\n'],
    [{ since: Date.UTC(2031, 0, 1) }, ''],
    [{ since: Date.UTC(2030, 0, 1, 0, 0, 2), tailLines: 1 }, 'four\n'],
    [{ since: Date.UTC(2030, 0, 1, 0, 0, 4), tailLines: 3 }, 'four\n'],
    [{ stream: 'stderr' }, 'two\n'],
    [{ timestamps: true, tailLines: 1 }, '2030-01-01T00:00:04.000000000Z four\n'],
    [{ timestamps: true, tailLines: 2, limitBytes: 12 }, '2030-01-01T0'],
  ])('%j', async (selection, expected) => {
    await writeFile(path, LINES);
    expect(await read(selection)).toBe(expected);
  });

  it('that is a link or a pipe has no lines', async () => {
    await writeFile(`${path}.other`, line(1, 'secret'));
    await symlink(`${path}.other`, path);
    expect(await read()).toBe('');
    await rm(path);
    execFileSync('mkfifo', [path]);
    expect(await read()).toBe('');
  });

  it('that is not there has no lines', async () => {
    expect(await read()).toBe('');
  });

  it('joins the parts of a line, with one timestamp', async () => {
    await writeFile(
      path,
      line(1, 'a ', 'stdout', 'P') + line(2, 'long ', 'stdout', 'P') + line(3, 'line') + line(4, 'next'),
    );
    expect(await read()).toBe('a long line\nnext\n');
    expect(await read({ timestamps: true })).toBe(
      '2030-01-01T00:00:01.000000000Z a long line\n2030-01-01T00:00:04.000000000Z next\n',
    );
  });

  it('leaves out what is not an entry', async () => {
    await writeFile(path, `nonsense\n\n${line(1, 'one')}${'x'.repeat(100_000)}\n${line(2, 'two')}unfinished`);
    expect(await read()).toBe('one\ntwo\n');
  });

  it('gives times as they were written, with nine digits', async () => {
    await writeFile(path, '2030-01-01T00:00:00.12+02:00 stdout F x\n');
    expect(await read({ timestamps: true })).toBe('2030-01-01T00:00:00.120000000+02:00 x\n');
  });

  it.each([true, false])('is the same however its bytes are divided, timestamps: %j', (timestamps) => {
    const bytes = Buffer.from(`${LINES}${line(5, 'part ', 'stdout', 'P')}${line(6, 'end')}junk\n${line(7, 'x y z')}`);
    const filter = { ...ALL, timestamps };
    const whole = new EntryReader(filter).push(Buffer.from(bytes)).toString();
    expect(whole).toContain('part end\n');
    forAll(fc.array(fc.nat({ max: bytes.length })), (cuts) => {
      const reader = new EntryReader(filter);
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => Buffer.from(bytes.subarray(places[index], end)));
      const parts = chunks.map((chunk) => reader.push(chunk).toString());
      expect(parts.join('')).toBe(whole);
    });
  });

  it('has no more than the last lines when the container writes meanwhile', async () => {
    const texts = Array.from({ length: 2_000 }, (_, index) => `line ${index}`);
    await writeFile(path, texts.map((text, index) => line(index, text)).join(''));
    const reading = readLog({ path, ended: ENDED }, { ...ALL, tailLines: 1_000 });
    const parts = [(await reading.next()).value as Buffer];
    await appendFile(path, line(2_000, 'a later line'));
    for await (const part of reading) parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe(`${texts.slice(1_000).join('\n')}\n`);
    expect(parts.length).toBeGreaterThan(1);
  });

  it('that is large is read from where it matters, in any place', async () => {
    const count = 20_000;
    const text = (index: number) => `line ${index} ${'x'.repeat(index % 50)}`;
    await writeFile(path, Array.from({ length: count }, (_, index) => line(index, text(index))).join(''));
    const lines = (from: number) =>
      Array.from({ length: count - from }, (_, index) => `${text(from + index)}\n`).join('');
    for (const from of [0, 1, 777, 10_000, count - 1]) {
      expect(await read({ since: Date.UTC(2030, 0, 1) + from * 1000 })).toBe(lines(from));
      expect(await read({ tailLines: count - from })).toBe(lines(from));
    }
  });
});

describe('a log that is followed', () => {
  /** A reader, and the end of its container. */
  function follow(selection: Partial<LogSelection> = {}, signal?: AbortSignal) {
    const { promise: ended, resolve: end } = withResolvers<void>();
    const lines = readLog({ path, ended, signal }, { ...ALL, follow: true, ...selection });
    let text = '';
    return {
      end: () => end(),
      /** Reads until the text ends so. */
      async until(suffix: string): Promise<string> {
        while (!text.endsWith(suffix)) {
          const { value, done } = await lines.next();
          if (done) break;
          text += value;
        }
        return text;
      },
      async rest(): Promise<string> {
        for await (const part of lines) text += part;
        return text;
      },
    };
  }

  it('goes on with new lines until the container has ended', async () => {
    await writeFile(path, line(1, 'one') + line(2, 'two'));
    const log = follow({ tailLines: 1 });
    expect(await log.until('two\n')).toBe('two\n');
    await appendFile(path, line(3, 'three'));
    expect(await log.until('three\n')).toBe('two\nthree\n');
    await appendFile(path, line(4, 'last'));
    log.end();
    expect(await log.rest()).toBe('two\nthree\nlast\n');
  });

  it('goes on in the file that takes its place', async () => {
    await writeFile(path, line(1, 'one'));
    const log = follow();
    await log.until('one\n');
    await rename(path, `${path}.old`);
    await appendFile(`${path}.old`, line(2, 'late'));
    await writeFile(path, line(3, 'new'));
    expect(await log.until('new\n')).toBe('one\nlate\nnew\n');
    log.end();
    expect(await log.rest()).toBe('one\nlate\nnew\n');
  });

  it('may be created later', async () => {
    const log = follow();
    const first = log.until('one\n');
    await writeFile(path, line(1, 'one'));
    expect(await first).toBe('one\n');
    log.end();
    expect(await log.rest()).toBe('one\n');
  });

  it('ends when its reader leaves, and at its limit', async () => {
    await writeFile(path, line(1, 'one'));
    const abort = new AbortController();
    const log = follow({}, abort.signal);
    await log.until('one\n');
    abort.abort();
    expect(await log.rest()).toBe('one\n');
    expect(await follow({ limitBytes: 2 }).rest()).toBe('on');
  });
});

describe('rotation', () => {
  const limits = { maxBytes: 100, maxFiles: 3 };

  it('moves a large file away, compresses older ones and keeps a few', async () => {
    let reopened = 0;
    const reopen = async () => void reopened++;
    for (let day = 1; day <= 4; day++) {
      await writeFile(path, `${day}`.repeat(100));
      expect(await rotateLog(path, { ...limits, now: Date.UTC(2030, 0, day), reopen })).toBe(true);
    }
    expect(reopened).toBe(4);
    expect((await readdir(folder)).sort()).toEqual(['0.log.20300103-000000.000.gz', '0.log.20300104-000000.000']);
    const compressed = await readFile(join(folder, '0.log.20300103-000000.000.gz'));
    expect(gunzipSync(compressed).toString()).toBe('3'.repeat(100));
    await removeLogs(path);
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves a small file alone', async () => {
    await writeFile(path, 'x'.repeat(99));
    expect(await rotateLog(path, { ...limits, now: 0, reopen: () => Promise.reject(new Error()) })).toBe(false);
  });

  it('of all running containers goes on when one fails', async () => {
    const [ended, bad, good] = ['ended.log', 'bad.log', 'good.log'].map((name) => join(folder, name));
    for (const file of [ended, bad, good]) await writeFile(file!, 'x'.repeat(200));
    const containers = [
      { id: '1', state: 'exited', logPath: ended },
      { id: '2', state: 'running', logPath: bad },
      { id: '3', state: 'running', logPath: good },
    ] as Container[];
    const failures: unknown[] = [];
    await rotateLogs(
      {
        containers: async () => containers,
        reopenLog: async (id) => {
          if (id === '2') throw new Error('no');
        },
      },
      { maxBytes: 100, now: 0, log: { ...silent, warn: (_, fields) => failures.push(fields?.file) } },
    );
    expect(failures).toEqual([bad]);
    expect((await readdir(folder)).filter((name) => /bad|ended|good/.test(name)).sort()).toEqual([
      'bad.log',
      'ended.log',
      'good.log.19700101-000000.000',
    ]);
  });

  it('is undone when the file cannot be opened anew', async () => {
    await writeFile(path, 'x'.repeat(100));
    const failing = rotateLog(path, { ...limits, now: 0, reopen: () => Promise.reject(new Error('no')) });
    await expect(failing).rejects.toThrow('no');
    expect(await readdir(folder)).toEqual(['0.log']);
  });
});
