/** Tests the location of the files of pods on a node, and their accounting. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('skipped: only root mounts files into containers');

describe.runIf(isRoot)('the files of a pod', () => {
  let qd: Qd;
  let directory: string;
  const mounts = async () => (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const run = (name: string, script: string, spec: object = {}, container: object = {}) => {
    const containers = [{ name: 'c', image: 'host', command: ['sh', '-c', script], ...container }];
    const body = { metadata: { name }, spec: { terminationGracePeriodSeconds: 0, containers, ...spec } };
    return qd.request('POST', `${NAMESPACE}/pods`, { body });
  };
  const until = (name: string, condition: (pod: any) => boolean) =>
    qd.until(`${NAMESPACE}/pods`, (pod) => pod.metadata.name === name && condition(pod));

  beforeAll(async () => {
    directory = await newDirectory();
    const ranges = ['--cluster-cidr', '10.220.0.0/16', '--service-cluster-ip-range', '10.120.0.0/16'];
    qd = await startQd({ directory, flags: ['--nodes', '1', '--runtime', 'process', ...ranges] });
  });
  afterAll(async () => {
    await qd?.stop('SIGTERM');
    await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')], { env: { HOME: directory } });
    expect((await mounts()).filter((line) => line.includes(directory))).toEqual([]);
    await rm(directory, { recursive: true, force: true });
  });

  test('that hold Secrets and tokens are in memory, and other users cannot look for them', async () => {
    const body = { metadata: { name: 'keys' }, data: { key: 'c2VjcmV0' } };
    await qd.request('POST', `${NAMESPACE}/secrets`, { body });
    await run(
      'reader',
      'stat -f -c %T /keys/key /var/run/secrets/kubernetes.io/serviceaccount/token; cat /keys/key; echo',
      { restartPolicy: 'Never', volumes: [{ name: 'keys', secret: { secretName: 'keys' } }] },
      { volumeMounts: [{ name: 'keys', mountPath: '/keys' }] },
    );
    await until('reader', ({ status }) => status.phase === 'Succeeded');
    const log: string[] = [];
    for await (const line of await qd.lines(`${NAMESPACE}/pods/reader/log`)) log.push(line);
    expect(log.join('\n').trim()).toBe('tmpfs\ntmpfs\nsecret');
    const nodes = join(directory, 'data/nodes');
    for (const path of [nodes, join(nodes, 'quarterdeck-node-1'), join(nodes, 'quarterdeck-node-1/pods')]) {
      expect((await stat(path)).mode & 0o066).toBe(0);
    }
    expect((await stat(join(nodes, 'quarterdeck-node-1/logs'))).mode & 0o777).toBe(0o700);
  });

  test.each(['/etc/hosts', '/dev/termination-log'])(
    'count for its ephemeral storage when it writes into %s',
    async (path) => {
      const name = path.slice(1).replace('/', '-');
      const resources = { limits: { 'ephemeral-storage': '50Mi' } };
      await run(name, `head -c 300000000 /dev/zero > ${path}; sleep 1000`, {}, { resources });
      const pod = await until(name, ({ status }) => status.phase === 'Failed');
      expect((pod as any).status).toMatchObject({ reason: 'Evicted' });
      expect((pod as any).status.message).toContain('exceeds the total limit of containers 50Mi');
    },
    60_000,
  );
});
