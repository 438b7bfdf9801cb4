import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { agentClientIdentity } from './agent-client.ts';
import { openPki } from './pki.ts';

let directory: string;
const clock = new ControlledClock();

beforeEach(() => {
  directory = temporaryDirectory();
});

const open = () => openPki({ directory, names: ['localhost'], clock, random: systemRandom });

it('the certificate for agents is made once, renewed in time, and when the authority has changed', async () => {
  let pki = await open();
  const identity = agentClientIdentity(() => pki, { clock, random: systemRandom });
  const first = await identity();
  const parsed = new X509Certificate(first.cert);
  expect(parsed.subject).toBe('O=system:masters\nCN=kube-apiserver-kubelet-client');
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(parsed.verify(new X509Certificate(pki.authority).publicKey)).toBe(true);
  expect(first.ca).toBe(pki.authority);
  expect(await identity()).toBe(first);
  await clock.advance(19 * 3_600_000);
  const second = await identity();
  expect(second.cert).not.toBe(first.cert);
  await rm(join(directory, 'ca.crt'));
  pki = await open();
  const third = await identity();
  expect(third.ca).toBe(pki.authority);
  expect(new X509Certificate(third.cert).verify(new X509Certificate(pki.authority).publicKey)).toBe(true);
});
