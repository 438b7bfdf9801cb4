import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { ProgramShell } from './program-shell.ts';

let directory: string;
let shell: ProgramShell;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => {
  shell.close();
});

function shellOf(script: string, ...before: readonly string[]): ProgramShell {
  const path = join(directory, 'program');
  writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  chmodSync(path, 0o755);
  return new ProgramShell([...before, path]);
}

test('passes an argument as it is', async () => {
  shell = shellOf('printf %s "$1" >&2; exit 1');
  const argument = ' \\ $x `id` \u2028 \\n "\' \u0007 ';
  await expect(shell.run(argument)).rejects.toThrow(`program failed: ${argument}`);
});

test('rejects an argument of two lines', () => {
  shell = shellOf('exit 0');
  expect(() => shell.run('one\ntwo')).toThrow('has one line');
});

test('answers calls in their order, with the errors of each', async () => {
  shell = shellOf('case $1 in good) ;; *) printf "Fehler: ü 1 2\\n3 4" >&2; exit 3;; esac');
  const outcomes = await Promise.allSettled(['good', 'bad', 'good', 'bad'].map((name) => shell.run(name)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
  expect(outcomes[1]).toMatchObject({ reason: { message: expect.stringMatching(/failed: Fehler: ü 1 2\n3 4$/) } });
});

test('runs the program through the command before it', async () => {
  shell = shellOf('echo "$VARIABLE" >&2; exit 1', '/usr/bin/env', 'VARIABLE=entered');
  await expect(shell.run('')).rejects.toThrow('entered');
});

test('rejects what a shell that is killed has not answered, and starts another one', async () => {
  shell = shellOf('[ "$1" != kill ] || kill -9 $PPID');
  const outcomes = await Promise.allSettled([shell.run('kill'), shell.run('another')]);
  expect(outcomes).toMatchObject([{ reason: { message: expect.stringContaining('SIGKILL') } }, { status: 'rejected' }]);
  expect(await shell.run('next')).toBe(undefined);
});

test('finishes what was asked before it was closed', async () => {
  shell = shellOf('sleep 0.05; exit 4');
  const running = shell.run('');
  shell.close();
  await expect(running).rejects.toThrow('it ended with code 4');
});
