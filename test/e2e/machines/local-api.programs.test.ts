/** Tests that pods of an agent without root reach the API while any server is alive. */
import { readFileSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../../support/etcd.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

const skip = etcdMissing();
if (skip) console.log(`skipped: ${skip}`);

const NODE = 'rack';
const NAMESPACE = '/api/v1/namespaces/default';
const TIMEOUT_MS = 120_000;
/** Root takes the part of another user. */
const user: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: 65_534 } : {};

const CLIENT = readFileSync(join(import.meta.dirname, 'asks-for-version.cjs'), 'utf8');

describe.skipIf(skip !== undefined)('a pod of an agent without root', () => {
  let directory: string;
  let etcd: TestEtcd;
  let first: Qd;
  let second: Qd;
  const data = () => join(directory, 'agent');
  const run = (...args: string[]) => runQd(args, { env: { HOME: directory, KUBECONFIG: '', QD_CLUSTER: '' }, ...user });

  const startServer = (name: string) => {
    const store = ['--store', 'etcd', '--etcd-servers', etcd.endpoint, '--nodes', '0'];
    const key = name === 'first' ? [] : ['--encryption-key-file', join(directory, 'first', 'data', 'encryption.key')];
    return startQd({ directory: join(directory, name), flags: [...store, ...key, '--bind-address', '0.0.0.0'] });
  };
  const calls = async (): Promise<readonly string[]> => {
    const { text } = await second.request('GET', `${NAMESPACE}/pods/client/log`);
    return text.trim().split('\n');
  };

  beforeAll(async () => {
    directory = await newDirectory();
    await chmod(directory, 0o777);
    etcd = await TestEtcd.start();
    first = await startServer('first');
    second = await startServer('second');
    const { stdout } = await runQd(['token', 'create', '--kubeconfig', first.kubeconfig]);
    const given = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
    const flags = ['--node-name', NODE, '--runtime', 'process', '--allow-host-image'];
    expect(await run('agent', '--detach', '--data-dir', data(), ...flags, ...given)).toMatchObject({ code: 0 });
    const ca = { name: 'CA', valueFrom: { configMapKeyRef: { name: 'kube-root-ca.crt', key: 'ca.crt' } } };
    const container = { name: 'c', image: 'host', command: [process.execPath, '-e', CLIENT], env: [ca] };
    await first.request('POST', `${NAMESPACE}/pods`, {
      body: { metadata: { name: 'client' }, spec: { containers: [container] } },
    });
    await first.until(`${NAMESPACE}/pods`, ({ status }) => status.containerStatuses?.[0]?.state?.running);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await run('reset', '--yes', '--data-dir', data());
    for (const qd of [first, second]) await qd?.stop('SIGKILL');
    for (const name of ['first', 'second']) {
      const flags = ['--yes', '--delete-encryption-key', '--data-dir', join(directory, name, 'data')];
      await runQd(['reset', ...flags], {});
    }
    await etcd?.remove();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('reaches the API with any server that the agent has not joined', { timeout: TIMEOUT_MS }, async () => {
    await expect.poll(async () => (await calls()).at(-1), { timeout: 30_000 }).toBe('200');
    await first.stop('SIGKILL');
    const before = (await calls()).length;
    const since = async () => (await calls()).slice(before);
    await expect.poll(async () => (await since()).length, { timeout: 30_000 }).toBeGreaterThan(20);
    expect((await since()).slice(-10)).toEqual(Array(10).fill('200'));
  });

  test('reaches it while the agent is stopped', { timeout: TIMEOUT_MS }, async () => {
    const before = (await calls()).length;
    expect(await run('down', '--keep-pods', '--data-dir', data())).toMatchObject({ code: 0 });
    expect(await run('agent', '--detach', '--data-dir', data())).toMatchObject({ code: 0 });
    const seen = (await calls()).slice(before);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((each) => each !== '200')).toEqual([]);
  });
});
