import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeOldReleases } from './old-releases.ts';

test('a release of which a program runs stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qd-releases-'));
  const program = join(folder, 'running', 'keeper.cjs');
  await mkdir(join(folder, 'running'));
  await writeFile(program, 'process.stdout.write("started"); process.stdin.resume();');
  await utimes(join(folder, 'running'), 0, 0);
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const remove = () => removeOldReleases({ folder, kept: [], now: Date.now() });
  await remove();
  expect(await readdir(folder)).toEqual(['running']);
  child.kill();
  await once(child, 'exit');
  await remove();
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});
