/** Checks the programs for the shell and for Perl, which modules read from files beside themselves. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, root } from './source.ts';

const shell = filesBelow('src', '.sh');
const perl = filesBelow('src', '.pl');
const modules = filesBelow('src', '.ts').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The name under which the build finds what a module reads. */
const readingOf = (file: string) =>
  `programText(new URL('./${file.slice(dirname(file).length + 1)}', import.meta.url))`;

function check(program: string, ...args: string[]): void {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (error) throw error;
  expect(status, stdout + stderr).toBe(0);
}

const isMissing = (program: string) => spawnSync(program, ['--version']).error !== undefined;

describe.each(shell)('%s', (file) => {
  it('has the syntax of the shell', () => check('/bin/sh', '-n', file));
  it.skipIf(isMissing('shellcheck'))('has no faults that shellcheck finds', () => check('shellcheck', file));
});

it.skipIf(isMissing('perl')).each(perl)('%s has the syntax of Perl', (file) => check('perl', '-c', file));

it.each([...shell, ...perl])('%s is read by a module beside it', (file) => {
  const readers = modules.filter(({ path, text }) => dirname(path) === dirname(file) && text.includes(readingOf(file)));
  expect(readers).toHaveLength(1);
});
