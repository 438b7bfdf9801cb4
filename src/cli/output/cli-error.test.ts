import { expect, test } from 'vitest';
import { CliError, explain } from './cli-error.ts';

const system = (code: string, path?: string) => Object.assign(new Error(`${code}: something`), { code, path });

test.each([
  [new CliError('port 1 is taken'), 'port 1 is taken'],
  [new CliError('two\n  lines'), 'two lines'],
  [system('EACCES', '/root/x'), 'no permission to read or write /root/x (EACCES)'],
  [system('EROFS', '/proc/x'), 'no permission to write /proc/x (EROFS)'],
  [system('ENOSPC', '/full/x'), 'no space left on the disk for /full/x'],
  [system('ENOENT', '/none/x'), '/none/x cannot be used: it does not exist'],
  [system('ENOTDIR', '/etc/passwd/x'), '/etc/passwd/x cannot be used: a part of its path is not a directory'],
  [system('EISDIR'), 'EISDIR: something'],
  [new Error('what\never'), 'what ever'],
  ['a thrown text', 'a thrown text'],
  [new CliError('the server answered 200: k8s\0\n\x01\x1b[31m\x9b2Jend'), 'the server answered 200: k8s [31m 2Jend'],
])('%s', (error, line) => {
  const said = explain(error);
  expect(said).toContain(line);
  expect(said).not.toContain('\n');
});
