import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { readPackageFile } from './package-file.ts';

const BLOCK_BYTES = 512;

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

/** One file of a tar archive, as ustar describes it. */
function tarEntry(path: string, text: string): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write('0000644\0'.concat('0000000\0'.repeat(2)), 100);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0        0`, 124);
  header.write('ustar\x0000', 257);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  const content = Buffer.from(text);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES)]);
}

async function packageOf(description: object, before = ''): Promise<string> {
  const file = join(directory, 'package.tgz');
  const entries = [
    tarEntry('package/README.md', before),
    tarEntry('package/package.json', JSON.stringify(description)),
  ];
  await writeFile(file, gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK_BYTES)])));
  return file;
}

test('a package file says its release, and has the hash of its content', async () => {
  const path = await packageOf({ name: 'quarterdeck', version: '0.2.0', level: 3 }, 'x'.repeat(3_000));
  const { content, sha256, release } = await readPackageFile(path);
  expect(release).toEqual({ version: '0.2.0', level: 3 });
  expect(content).toEqual(await readFile(path));
  expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
});

test('what is not a package file is named', async () => {
  await expect(readPackageFile(directory)).rejects.toThrow('is a directory, and --all hands a file to the machines');
  await expect(readPackageFile(join(directory, 'missing'))).rejects.toThrow('missing cannot be read');
  const other = await packageOf({ name: 'other', version: '0.2.0' });
  await expect(readPackageFile(other)).rejects.toThrow('is not a package file of Quarterdeck');
  await writeFile(other, 'no archive');
  await expect(readPackageFile(other)).rejects.toThrow('is not a package file of Quarterdeck');
});
