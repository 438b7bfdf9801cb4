/** Tests `qd store migrate`: a cluster moves to an etcd of its own and back, also when the move is killed half-way. */
import { once } from 'node:events';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing } from '../../support/etcd.ts';
import { freePort } from '../../support/free-port.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';

const missing = etcdMissing();
if (missing) console.log(`skipped: ${missing}`);

const TIMEOUT_MS = 120_000;
const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const SECRETS = '/api/v1/namespaces/default/secrets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CHANGES = 5;
/** What a move leaves in the directory of its etcd, in this order. It is killed when it has come so far. */
const TRACES = ['etcd.json', 'wal', '"state":"copying"', '"state":"complete"'];

/** Asked for so often that the logs are not made into texts. */
async function hasTrace(folder: string, trace: string): Promise<boolean> {
  const files = await readdir(folder, { recursive: true }).catch((): string[] => []);
  if (files.some((file) => file.includes(trace))) return true;
  const logs = files.filter((file) => file.endsWith('.wal')).map((file) => startOf(join(folder, file)));
  return (await Promise.all(logs)).some((log) => log.includes(trace));
}

/** Logs of etcd's have 64 MiB from the start. */
async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2 * 2 ** 20));
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

describe.skipIf(missing)('a cluster that moves to another store', () => {
  let directory: string;
  let data: string;
  let qd: Qd;
  let before: Record<string, unknown>;
  let ownEtcd: string[];

  const flags = ['--nodes', '1'];
  /** The objects that nobody writes to while the server starts again, as clients have them. */
  const objects = async (): Promise<Record<string, unknown>> => {
    const paths = [MAPS, SECRETS, DEPLOYMENTS, '/apis/apps/v1/namespaces/default/replicasets', '/api/v1/namespaces'];
    const lists = await Promise.all(paths.map(async (path) => [path, (await qd.request('GET', path)).body.items]));
    const pods = (await qd.request('GET', PODS)).body.items.map(({ metadata, spec }: any) => [metadata.uid, spec]);
    return { ...Object.fromEntries(lists), pods };
  };
  const write = async (value: string) =>
    (await qd.request('PATCH', `${MAPS}/a`, { body: { data: { value } }, type: 'application/merge-patch+json' })).body;
  /** The values that a client sees which resumes its watch from a version. */
  const valuesAfter = async (version: string, last: string): Promise<string[]> => {
    const values: string[] = [];
    for await (const { type, object } of await qd.watch(`${MAPS}?watch=true&resourceVersion=${version}`)) {
      expect([type, object.metadata.name]).toEqual(['MODIFIED', 'a']);
      values.push(object.data.value);
      if (object.data.value === last) break;
    }
    return values;
  };
  const migrate = (...args: string[]) => runQd(['store', 'migrate', '--data-dir', data, ...args]);
  const storeOf = async () => JSON.parse(await readFile(join(data, 'cluster.json'), 'utf8')).store;
  let created: string;

  beforeAll(async () => {
    directory = await newDirectory();
    data = join(directory, 'data');
    ownEtcd = ['--ha', '--etcd-port', String(await freePort()), '--etcd-peer-port', String(await freePort())];
    qd = await startQd({ directory, flags });
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'busybox' }] } };
    const spec = { replicas: 2, selector: { matchLabels: { app: 'a' } }, template };
    await qd.request('POST', DEPLOYMENTS, { body: { metadata: { name: 'a' }, spec } });
    await qd.request('POST', SECRETS, { body: { metadata: { name: 'a' }, stringData: { word: 'only-for-us' } } });
    created = (await qd.request('POST', MAPS, { body: { metadata: { name: 'a' }, data: { value: 'new' } } })).body
      .metadata.resourceVersion;
    for (let i = 1; i <= CHANGES; i++) await write(`${i}`);
    await qd.until(DEPLOYMENTS, ({ status }) => status.availableReplicas === 2);
    before = await objects();
    await qd.stop();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await qd?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('stays as it is when the move is killed at any moment', { timeout: TIMEOUT_MS }, async () => {
    for (const trace of TRACES) {
      const child = spawnProgram('qd', ['store', 'migrate', '--data-dir', data, '--to', 'etcd', ...ownEtcd], {});
      const closed = once(child, 'close');
      await expect.poll(() => hasTrace(join(data, 'etcd'), trace), { timeout: 30_000, interval: 10 }).toBe(true);
      child.kill('SIGKILL');
      await closed;
    }
    if ((await storeOf()) === 'etcd') await migrate('--to', 'embedded');
    qd = await startQd({ directory });
    expect(await objects()).toEqual(before);
    await qd.stop();
  });

  test('has the same objects and versions on etcd, and its watches resume', { timeout: TIMEOUT_MS }, async () => {
    const { code, stdout } = await migrate('--to', 'etcd', ...ownEtcd);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Copied \d+ objects from the data directory to etcd/)]);
    qd = await startQd({ directory });
    expect(qd.output()).toContain('etcd');
    expect(await objects()).toEqual(before);
    const { metadata } = await write('on etcd');
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(created) + CHANGES);
    expect(await valuesAfter(created, 'on etcd')).toEqual(['1', '2', '3', '4', '5', 'on etcd']);
    const stale = { metadata: { name: 'a', resourceVersion: created }, data: {} };
    expect((await qd.request('PUT', `${MAPS}/a`, { body: stale })).code).toBe(409);
    expect(await storeOf()).toBe('etcd');
  });

  test('is not moved to where it is', async () => {
    before = await objects();
    await qd.stop();
    expect((await migrate('--to', 'etcd', ...ownEtcd)).stderr).toContain('already');
    expect((await migrate('--to', 'etcd')).stderr).toContain('--to etcd needs --ha');
  });

  test('comes back to the data directory with what was written on etcd', { timeout: TIMEOUT_MS }, async () => {
    expect(await migrate('--to', 'embedded')).toMatchObject({ code: 0, stderr: '' });
    qd = await startQd({ directory });
    expect(await objects()).toEqual(before);
    await write('back');
    expect(await valuesAfter(created, 'back')).toEqual(['1', '2', '3', '4', '5', 'on etcd', 'back']);
    const secret = (await qd.request('GET', `${SECRETS}/a`)).body;
    expect(Buffer.from(secret.data.word, 'base64').toString()).toBe('only-for-us');
    await qd.stop();
    const names = await readdir(data);
    for (const name of names.filter((each) => /^(store|etcd)/.test(each))) {
      for (const file of await readdir(join(data, name), { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) continue;
        expect((await readFile(join(file.parentPath, file.name))).includes('only-for-us')).toBe(false);
      }
    }
  });
});
