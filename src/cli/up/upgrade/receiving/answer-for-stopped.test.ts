import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../../../../test/support/free-port.ts';
import { openPki } from '../../../../assembly/keys/pki.ts';
import { systemRandom } from '../../../../base/random.ts';
import { type Clock, ControlledClock, systemClock } from '../../../../base/time/clock.ts';
import { rememberIn } from '../../directory/directory.ts';
import { writeRecord } from '../record.ts';
import { asking } from '../rolling/ask.ts';
import { answerForStopped } from './answer-for-stopped.ts';

const FAILED = { from: '0.1.0', to: '0.2.0', state: 'failed', message: '0.1.0 did not become ready either' } as const;

let directory: string;
let server: string;
let access: { readonly ca: string; readonly cert: string; readonly key: string };
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-stopped-'));
  const port = await freePort();
  server = `https://127.0.0.1:${port}`;
  await rememberIn(directory, { bindAddress: '127.0.0.1', port });
  const names = ['127.0.0.1'];
  const pki = await openPki({ directory: join(directory, 'pki'), names, clock: systemClock, random: systemRandom });
  access = { ca: pki.authority, cert: pki.admin.certificate, key: pki.admin.key };
});
afterEach(() => rm(directory, { recursive: true }));

const report = (credentials: object = access) =>
  asking({ server, ...credentials })({ method: 'GET', path: '/upgrade' }) as Promise<object>;

it('says how the upgrade has ended, for a while, and to clients of the cluster alone', async () => {
  await writeRecord(directory, FAILED);
  const clock = new ControlledClock();
  const answering = answerForStopped(directory, clock);
  await expect.poll(() => report().catch(({ message }) => message)).toMatchObject({ version: '0.1.0', last: FAILED });
  await expect(report({ ca: access.ca })).rejects.toThrow();
  await expect(asking({ server, ...access })({ method: 'GET', path: '/readyz' })).rejects.toThrow('did not become');
  await clock.advance(15_000);
  await answering;
  await expect(report()).rejects.toThrow('ECONNREFUSED');
});

it('answers for no server that was rolled back', async () => {
  await writeRecord(directory, { ...FAILED, state: 'rolled-back' });
  const never: Clock = new ControlledClock();
  await expect(answerForStopped(directory, never)).resolves.toBeUndefined();
});
