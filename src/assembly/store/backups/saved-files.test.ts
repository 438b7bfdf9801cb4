import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSavedFiles, writeSavedKeys } from './saved-files.ts';

let scratch: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'qd-saved-'));
});
afterEach(() => rm(scratch, { recursive: true }));

const KEYS = { 'ca.crt': 'a', 'ca.key': 'b', 'sa.key': 'c', 'encryption.key': 'd' };

test('keys and settings are read from a data directory, and keys written to another one', async () => {
  const [from, to, keyFile] = ['from', 'to', 'elsewhere'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(join(from, 'pki'), { recursive: true });
  for (const name of ['ca.crt', 'ca.key', 'sa.key', 'apiserver.key']) await writeFile(join(from, 'pki', name), name);
  await writeFile(join(from, 'cluster.json'), '{}');
  await writeFile(keyFile, 'keys');
  const files = await readSavedFiles(from, keyFile);
  expect(files).toEqual({
    ...{ 'ca.crt': 'ca.crt', 'ca.key': 'ca.key', 'sa.key': 'sa.key' },
    ...{ 'encryption.key': 'keys', 'cluster.json': '{}' },
  });
  await writeSavedKeys(to, files);
  expect((await readdir(to, { recursive: true })).sort()).toEqual([
    ...['encryption.key', 'pki', 'pki/ca.crt', 'pki/ca.key', 'pki/sa.key'],
  ]);
  expect(await readFile(join(to, 'encryption.key'), 'utf8')).toBe('keys');
  expect((await stat(join(to, 'pki', 'ca.key'))).mode & 0o077).toBe(0);
});

test('what a hostile backup calls a file is no path', async () => {
  const to = join(scratch, 'to');
  await writeSavedKeys(to, { ...KEYS, '../escaped': 'x', 'pki/../../escaped': 'x', [join(scratch, 'absolute')]: 'x' });
  expect(await readdir(scratch)).toEqual(['to']);
  expect((await readdir(to)).sort()).toEqual(['encryption.key', 'pki']);
});

test.each(Object.keys(KEYS))('nothing is written without %s', async (name) => {
  const { [name as keyof typeof KEYS]: _, ...others } = KEYS;
  await expect(writeSavedKeys(join(scratch, 'to'), others)).rejects.toThrow(`the backup has no ${name}`);
  expect(await readdir(scratch)).toEqual([]);
});
