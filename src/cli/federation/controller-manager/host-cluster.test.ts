import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostConnection } from './host-cluster.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'qd-account-'));
  writeFileSync(join(directory, 'token'), 'secret\n');
  writeFileSync(join(directory, 'ca.crt'), 'CA');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a pod reaches its own cluster with its service account', async () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
  expect(await hostConnection(env, directory)).toEqual({ server: 'https://10.96.0.1:443', token: 'secret', ca: 'CA' });
  await expect(hostConnection({}, directory)).rejects.toThrow('run this command in a pod of the host cluster');
  await expect(hostConnection(env, '/none')).rejects.toThrow('the service account of the pod cannot be read');
});
