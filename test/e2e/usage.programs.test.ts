/** Tests the messages for mistyped flags and commands, and output that is not read. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { runQd, spawnProgram, startQd } from './program.ts';

test.each([
  ['qd', ['up', '--bogus'], "unknown option '--bogus' (see qd up --help)"],
  ['qd', ['foo'], "unknown command 'foo' (see qd --help)"],
  ['qd', ['help', 'nosuch'], "unknown command 'nosuch' (see qd --help)"],
  ['qd', ['help', 'snapshot', 'sav'], "unknown command 'sav'; the nearest is save (see qd snapshot --help)"],
  ['qd', ['up', '--prot=6443'], "unknown option '--prot=6443'; the nearest is --port (see qd up --help)"],
  ['qd', ['up', '--datadir', 'x'], "unknown option '--datadir'; the nearest is --data-dir (see qd up --help)"],
  ['qd', ['up', '-p'], "unknown option '-p' (see qd up --help)"],
  ['qd', ['up', '--port', '99999'], /'99999' is invalid.*\(see qd up --help\)$/],
  ['qd', ['up', '--port'], /argument missing \(see qd up --help\)$/],
  ['qd', ['up', 'surplus'], /too many arguments.*\(see qd up --help\)$/],
  ['qd', ['certs', 'show', '--nmae', 'x'], "unknown option '--nmae'; the nearest is --name (see qd certs show --help)"],
  ['qd', ['upp'], "unknown command 'upp'; the nearest is up (see qd --help)"],
  ['qd', ['snapshot', 'sav', 'x'], "unknown command 'sav'; the nearest is save (see qd snapshot --help)"],
  ['qd', ['--verison'], "unknown option '--verison'; the nearest is --version (see qd --help)"],
  ['qdfed', ['--bogus'], "unknown option '--bogus' (see qdfed --help)"],
  ['qdfed', ['verion'], "unknown command 'verion'; the nearest is version (see qdfed --help)"],
] as const)('%s %j', async (program, args, expected) => {
  const { code, stdout, stderr } = await runQd(args, { program });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^\w+: [^\n]+\n$/);
  const line = stderr.trim().replace(`${program}: `, '');
  if (typeof expected === 'string') expect(line).toBe(expected);
  else expect(line).toMatch(expected);
});

test('qd fault on a cluster that serves none says how to start one that does', async () => {
  const qd = await startQd();
  try {
    const { code, stderr } = await runQd(['fault', 'list', '--kubeconfig', qd.kubeconfig]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'qd: this cluster serves no faults; start one with --faults\n',
    });
  } finally {
    await qd.stop();
  }
});

test('a reader that goes before the end, as head does, is no error', async () => {
  const child = spawnProgram('qd', ['--help'], {});
  child.stdout?.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
});

test('output that finds no room on the disk is an error of one line', async () => {
  const enter = ['/bin/sh', '-c', 'exec "$0" "$@" > /dev/full'];
  const { stderr, code } = await runQd(['--help'], { enter });
  expect({ stderr, code }).toEqual({ stderr: 'qd: no space left on the disk\n', code: 1 });
});
