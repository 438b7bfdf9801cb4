/** A copy of the data directory of a cluster with real pods: whatever becomes of the copy, the original goes on. */
import { execFileSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('skipped: pods with an address need root');

const TIMEOUT_MS = 120_000;
const PODS = '/api/v1/namespaces/default/pods';
const flags = [
  ...['--nodes', '1', '--runtime', 'process', '--name', 'original', '--ingress=false'],
  ...['--cluster-cidr', '10.124.0.0/17', '--service-cluster-ip-range', '10.124.128.0/17'],
];

let directory: string;
let elsewhere: string;
let qd: Qd;
beforeAll(async () => {
  directory = await newDirectory();
  elsewhere = await newDirectory();
});
afterAll(async () => {
  for (const home of [elsewhere, directory]) {
    await runQd(['reset', '--yes', '--data-dir', join(home, 'data')], { env: { HOME: directory } });
    await rm(home, { recursive: true, force: true });
  }
});

async function runPod(name: string): Promise<void> {
  const containers = [{ name: 'c', image: 'host', command: ['sleep', '1000'] }];
  const body = { metadata: { name }, spec: { terminationGracePeriodSeconds: 0, containers } };
  expect((await qd.request('POST', PODS, { body })).code).toBe(200);
  await qd.until(PODS, ({ metadata, status }) => metadata.name === name && status.phase === 'Running');
}
const links = () => execFileSync('/sbin/ip', ['-br', 'link'], { encoding: 'utf8' });
const bridge = async () => {
  const file = join(directory, 'data', 'nodes', 'original-node-1', 'node.json');
  return JSON.parse(await readFile(file, 'utf8')).name as string;
};

test.skipIf(!isRoot)(
  'a copy that is started under another name and reset leaves the pods of the original, and what they need',
  async () => {
    qd = await startQd({ directory, flags });
    try {
      await runPod('before');
      expect(links()).toContain(await bridge());
      // With named pipes and sockets, which Node does not copy.
      execFileSync('/bin/cp', ['-a', join(directory, 'data'), join(elsewhere, 'data')]);
      const copy = await startQd({ directory: elsewhere, flags: ['--name', 'copy', '--runtime', 'simulated'] });
      await copy.stop();
      const reset = await runQd(['reset', '--yes', '--data-dir', join(elsewhere, 'data')], {
        env: { HOME: directory },
      });
      expect(reset).toMatchObject({ code: 0, stderr: '' });
      expect(reset.stdout).not.toContain('Ended');
      expect(links()).toContain(await bridge());
      const { body } = await qd.request('GET', `${PODS}/before`);
      expect(body.status.containerStatuses[0]).toMatchObject({ restartCount: 0, state: { running: {} } });
      await runPod('after');
    } finally {
      await qd.stop();
    }
  },
  TIMEOUT_MS,
);
