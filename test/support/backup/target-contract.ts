import { beforeEach, describe, expect, it } from 'vitest';
import type { BackupTarget } from '../../../src/backup/target.ts';

export interface OpenedTarget {
  readonly target: BackupTarget;
  /** Counts what is stored besides complete files: temporary files, unfinished uploads. */
  leftovers(): Promise<number>;
  /** Leaves what a killed program leaves in the middle of a `put`. */
  abandon(name: string): Promise<void>;
}

/** More than one part of an upload. */
const LARGE_BYTES = 12 * 1024 * 1024 + 17;

/** Contract of a place for backup files. Called from the test of every implementation. */
export function describeTarget(name: string, openEmpty: () => Promise<OpenedTarget>): void {
  describe(`${name}: the contract of backup targets`, () => {
    let target: BackupTarget;
    let opened: OpenedTarget;
    beforeEach(async () => {
      opened = await openEmpty();
      ({ target } = opened);
    });

    const names = async () => (await target.list()).map((file) => file.name);
    const text = async (file: string, range?: { from: number; until?: number }) =>
      String(await collected(target.get(file, range)));

    it('lists nothing at first', async () => {
      expect(await target.list()).toEqual([]);
      await target.tidy();
    });

    it('stores files, and lists them by name with their size and time', async () => {
      for (const file of ['c-2', 'a.qdbackup.age', 'B_1']) await target.put(file, once(file));
      await target.put('empty', once(''));
      const files = await target.list();
      expect(files.map(({ name: file, bytes }) => [file, bytes])).toEqual([
        ['B_1', 3],
        ['a.qdbackup.age', 14],
        ['c-2', 3],
        ['empty', 0],
      ]);
      for (const { modified } of files) expect(Math.abs(modified - Date.now())).toBeLessThan(60_000);
      expect(await text('a.qdbackup.age')).toBe('a.qdbackup.age');
      expect(await text('empty')).toBe('');
      expect(await opened.leftovers()).toBe(0);
    });

    it('replaces a file', async () => {
      await target.put('a', once('a long first content'));
      await target.put('a', once('second'));
      expect(await text('a')).toBe('second');
      expect(await names()).toEqual(['a']);
    });

    it('keeps every byte of a large file, whatever the size of its chunks', async () => {
      const content = Buffer.alloc(LARGE_BYTES, 'abcdefg');
      await target.put('large', pieces(content, 700_001));
      expect(content.equals(await collected(target.get('large')))).toBe(true);
      await target.put('large', pieces(content, content.length));
      expect(content.equals(await collected(target.get('large')))).toBe(true);
      const middle = content.subarray(5_000_000, 9_000_000);
      expect(middle.equals(await collected(target.get('large', { from: 5_000_000, until: 9_000_000 })))).toBe(true);
      expect(await target.list()).toMatchObject([{ name: 'large', bytes: LARGE_BYTES }]);
    });

    it.each([
      [{ from: 3 }, '3456789'],
      [{ from: 0, until: 1 }, '0'],
      [{ from: 4, until: 6 }, '45'],
      [{ from: 8, until: 100 }, '89'],
      [{ from: 10 }, ''],
      [{ from: 5, until: 5 }, ''],
      [{ from: 100 }, ''],
    ])('reads the range %j', async (range, expected) => {
      await target.put('digits', once('0123456789'));
      expect(await text('digits', range)).toBe(expected);
    });

    it('shows nothing of a file before it is complete', async () => {
      await target.put('a', once('old'));
      async function* watched(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(LARGE_BYTES);
        expect(await names()).toEqual(['a']);
        expect(await text('a')).toBe('old');
        yield Buffer.from('end');
        expect(await names()).toEqual(['a']);
        expect(await text('a')).toBe('old');
      }
      await target.put('b', watched());
      await target.remove('b');
      await target.put('a', watched());
      expect(await target.list()).toMatchObject([{ name: 'a', bytes: LARGE_BYTES + 3 }]);
    });

    it.each([0, LARGE_BYTES])('leaves nothing when the content breaks after %i bytes', async (bytes) => {
      await target.put('a', once('old'));
      const broken = new Error('the content broke');
      async function* breaking(): AsyncGenerator<Uint8Array> {
        if (bytes > 0) yield Buffer.alloc(bytes);
        throw broken;
      }
      await expect(target.put('a', breaking())).rejects.toBe(broken);
      await expect(target.put('b', breaking())).rejects.toBe(broken);
      expect(await names()).toEqual(['a']);
      expect(await text('a')).toBe('old');
      expect(await opened.leftovers()).toBe(0);
    });

    it('leaves nothing when the caller aborts', async () => {
      for (const bytes of [10, LARGE_BYTES]) {
        const abort = new AbortController();
        async function* aborting(): AsyncGenerator<Uint8Array> {
          yield Buffer.alloc(bytes);
          abort.abort(new Error('stopped'));
          yield Buffer.alloc(1);
        }
        await expect(target.put('a', aborting(), abort.signal)).rejects.toThrow('stopped');
      }
      expect(await names()).toEqual([]);
      expect(await opened.leftovers()).toBe(0);
      await target.put('a', once('content'));
      const reading = collected(target.get('a', undefined, AbortSignal.abort(new Error('stopped'))));
      await expect(reading).rejects.toThrow('stopped');
      await expect(target.list(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    });

    it('removes files, and takes a missing one for removed', async () => {
      await target.put('a', once('1'));
      await target.put('b', once('2'));
      await target.remove('a');
      await target.remove('a');
      expect(await names()).toEqual(['b']);
    });

    it('fails to read a file that does not exist', async () => {
      await expect(collected(target.get('none'))).rejects.toMatchObject({ name: 'TargetError', problem: 'NotFound' });
      await target.put('a', once('1'));
      await expect(collected(target.get('none'))).rejects.toMatchObject({ problem: 'NotFound' });
      await expect(collected(target.get('none', { from: 1 }))).rejects.toMatchObject({ problem: 'NotFound' });
    });

    it.each(['', '.', '..', '.hidden', '-flag', 'a/b', '../a', 'a\\b', 'a b', 'ä', 'a\n', 'a\0', 'x'.repeat(256)])(
      'rejects the name %j',
      async (wrong) => {
        const invalid = { name: 'TargetError', problem: 'Invalid' };
        await expect(target.put(wrong, once('x'))).rejects.toMatchObject(invalid);
        await expect(collected(target.get(wrong))).rejects.toMatchObject(invalid);
        await expect(target.remove(wrong)).rejects.toMatchObject(invalid);
      },
    );

    it('hides what killed programs left, and removes it when nobody else can own it', async () => {
      await target.put('a', once('1'));
      await opened.abandon('b');
      expect(await names()).toEqual(['a']);
      expect(await opened.leftovers()).toBe(1);
      await target.tidy();
      expect(await opened.leftovers()).toBe(1);
      await target.tidy({ isAlone: true });
      expect(await opened.leftovers()).toBe(0);
      expect(await names()).toEqual(['a']);
    });

    it('stores several files at the same time', async () => {
      const content = Buffer.alloc(1_000_000, 'x');
      const files = Array.from({ length: 8 }, (_, index) => `file-${index}`);
      await Promise.all(files.map((file) => target.put(file, pieces(content, 100_000))));
      expect(await names()).toEqual(files);
      const sizes = await Promise.all(files.map(async (file) => (await collected(target.get(file))).length));
      expect(new Set(sizes)).toEqual(new Set([1_000_000]));
    });
  });
}

export async function* once(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

export async function* pieces(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

export async function collected(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
