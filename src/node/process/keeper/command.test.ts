import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../launcher/plan.ts';
import { LAUNCHER_PROGRAM } from '../launcher/program.ts';
import { startCommand } from './command.ts';

const PERL = '/usr/bin/perl';
/** Runs Perl with SIGCHLD blocked: as if the signal always came just before the launcher waits. */
const WITHOUT_SIGNAL = `#!${PERL}
use POSIX;
POSIX::sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGCHLD)) or die;
exec '${PERL}', @ARGV;
`;

let directory: string;
let launcher: string;
let perl: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'qd-command-'));
  launcher = join(directory, 'launcher');
  perl = join(directory, 'perl');
  writeFileSync(launcher, LAUNCHER_PROGRAM);
  writeFileSync(perl, WITHOUT_SIGNAL);
  chmodSync(perl, 0o755);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.skipIf(process.platform !== 'linux' || !existsSync(PERL)).each<{ name: string; terminal: readonly Step[] }>([
  { name: 'with a terminal', terminal: [['terminal']] },
  { name: 'without a terminal', terminal: [] },
])('the end of a command $name is seen without SIGCHLD', async ({ terminal }) => {
  const command = await startCommand({
    ...{ perl, launcher, directory: join(directory, 'streams'), stdin: true, stdout: true, stderr: false },
    steps: [['fork'], ...terminal, ['exec', '/bin/sh', '-c', 'read -r line; echo "read $line"; exit 3']],
  });
  command.stdin!.write('typed\n');
  const [output, exitCode] = await Promise.all([text(command.stdout!), command.exitCode]);
  expect(output).toContain('read typed');
  expect(exitCode).toBe(3);
  command.stdin!.destroy();
});

test.skipIf(process.platform !== 'linux' || !existsSync(PERL))(
  'a command that is killed takes what it has started with it',
  { timeout: 5_000 },
  async () => {
    const { stdout, exitCode, kill } = await startCommand({
      ...{ perl: PERL, launcher, directory: join(directory, 'streams'), stdin: false, stdout: true, stderr: false },
      steps: [['fork'], ['exec', '/bin/sh', '-c', 'sleep 60 & echo begun; wait']],
    });
    await once(stdout!, 'data');
    kill();
    // Whoever still ran would hold the output open.
    await once(stdout!.resume(), 'end');
    expect(await exitCode).toBe(137);
  },
);
