import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { collected, describeTarget, once } from '../../../test/support/backup/target-contract.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemRandom } from '../../base/random.ts';
import { DirectoryTarget } from './directory.ts';

const open = (directory: string) => new DirectoryTarget(directory, { random: systemRandom, now: () => Date.now() });
const partials = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('.'));

describeTarget('a directory', async () => {
  const directory = join(temporaryDirectory(), 'backups');
  return {
    target: open(directory),
    leftovers: async () => partials(directory).length,
    abandon: async (name) => writeFileSync(join(directory, `.${name}.0123456789abcdef.partial`), 'half'),
  };
});

describe('a directory of backups', () => {
  let directory: string;
  beforeEach(() => {
    directory = join(temporaryDirectory(), 'new', 'backups');
  });

  it('and its files are closed to other users, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await open(directory).put('a', once('x'));
    } finally {
      process.umask(before);
    }
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o600);
  });

  it('loses what was left an hour ago, and keeps what others still write', async () => {
    mkdirSync(directory, { recursive: true });
    for (const name of ['.a.0123456789abcdef.partial', '.b.0123456789abcdef.partial', '.other', 'kept']) {
      writeFileSync(join(directory, name), '');
      const time = Date.now() / 1000 - (name.startsWith('.b') ? 0 : 3700);
      utimesSync(join(directory, name), time, time);
    }
    await open(directory).tidy();
    expect(readdirSync(directory).sort()).toEqual(['.b.0123456789abcdef.partial', '.other', 'kept']);
  });

  it('shows regular files only, and reads nothing else', async () => {
    mkdirSync(join(directory, 'folder'), { recursive: true });
    symlinkSync('/etc/passwd', join(directory, 'link'));
    symlinkSync('/dev/zero', join(directory, 'device'));
    const target = open(directory);
    await target.put('a', once('x'));
    expect((await target.list()).map(({ name }) => name)).toEqual(['a']);
    for (const name of ['folder', 'link', 'device']) {
      await expect(collected(target.get(name))).rejects.toMatchObject({ name: 'TargetError', problem: 'Invalid' });
    }
  });

  it('explains what is wrong with it', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const wrong = { name: 'TargetError', problem: 'Invalid' };
    await expect(open(file).list()).rejects.toMatchObject(wrong);
    await expect(open(join(file, 'below')).put('a', once('x'))).rejects.toMatchObject({ name: 'TargetError' });
    await expect(collected(open(directory).get('a'))).rejects.toThrow(`${directory}/a: it does not exist`);
  });

  it('notices that a file becomes shorter while it is read', async () => {
    const target = open(directory);
    await target.put('a', once('x'.repeat(600_000)));
    const reading = target.get('a');
    await reading.next();
    writeFileSync(join(directory, 'a'), 'x');
    await expect(collected(reading)).rejects.toThrow('was shortened while it was read');
  });
});
