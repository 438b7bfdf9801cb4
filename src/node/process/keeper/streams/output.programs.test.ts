import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, symlinkSync, unlinkSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { Output } from './output.ts';

test.skipIf(process.platform !== 'linux')(
  'a full disk loses output, which the log says later, and not the container',
  async () => {
    const directory = temporaryDirectory();
    for (const name of ['stdout', 'stderr']) execFileSync('mkfifo', [join(directory, name)]);
    const logPath = join(directory, 'log');
    symlinkSync('/dev/full', logPath);
    const output = new Output({ directory, logPath, stdin: false, stdinOnce: false, clock: systemClock });
    output.begin();
    const client = new PassThrough();
    output.attach('stdout', client as unknown as Socket);
    const stdout = openSync(join(directory, 'stdout'), 'w');
    const stderr = openSync(join(directory, 'stderr'), 'w');
    writeSync(stdout, 'lost\n');
    await once(client, 'data');
    unlinkSync(logPath);
    output.reopen();
    writeSync(stdout, 'kept\n');
    closeSync(stdout);
    closeSync(stderr);
    await output.finish();
    expect(readFileSync(logPath, 'utf8')).toMatch(/ stderr F output was lost: ENOSPC.*\n.* stdout F kept\n$/);
  },
);
