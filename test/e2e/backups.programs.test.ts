/** Tests backups of the built program: taken, listed, verified, removed, and restored on an empty machine. */
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { S3Client } from '../../src/backup/targets/s3/client.ts';
import { readSettings } from '../../src/backup/targets/s3/settings.ts';
import { systemRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { missingS3, S3_KEYS, TestS3 } from '../support/backup/test-s3.ts';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const noEtcd = etcdMissing();
if (noEtcd) console.warn(noEtcd);

const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default';

const running: Qd[] = [];
const start = async (directory: string, flags: readonly string[] = []) => {
  const qd = await startQd({ directory, flags });
  running.push(qd);
  return qd;
};
const stopAll = () => Promise.all(running.splice(0).map((qd) => qd.stop('SIGKILL')));

/** A cluster that is stopped, with a backup of it from when it ran, and what its clients know. */
let origin: string;
let known: { uid: string; resourceVersion: string; token: string; port: string };
let backup: string;
let scratch: string;

beforeAll(async () => {
  origin = await newDirectory();
  const qd = await start(origin);
  await qd.request('POST', SECRETS, { body: { metadata: { name: 'one' }, stringData: { password: 'geheim' } } });
  const { metadata } = (await qd.request('POST', MAPS, { body: { metadata: { name: 'one' }, data: { a: '1' } } })).body;
  const spec = { expirationSeconds: 3_600 };
  const token = (await qd.request('POST', `${ACCOUNT}/token`, { body: { spec } })).body.status.token;
  known = { ...metadata, token, port: new URL(qd.origin).port };
  const taken = await runQd(['backup', 'now', '--to', join(origin, 'elsewhere'), '--data-dir', join(origin, 'data')]);
  expect(taken).toMatchObject({ code: 0, stderr: '' });
  backup = join(origin, 'elsewhere', (await readdir(join(origin, 'elsewhere')))[0]!);
  await qd.request('POST', MAPS, { body: { metadata: { name: 'later' } } });
  expect(await qd.stop()).toBe(0);
});
afterAll(() => rm(origin, { recursive: true, force: true }));
beforeEach(async () => {
  scratch = await newDirectory();
});
afterEach(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

const data = () => join(scratch, 'data');
const restore = (...args: string[]) => runQd(['restore', ...args, '--data-dir', data()]);

describe('a restored cluster', () => {
  test('is the same for its clients', async () => {
    expect(await restore(backup)).toMatchObject({ code: 0, stderr: '' });
    const qd = await start(scratch, ['--port', known.port]);
    const { body } = await qd.request('GET', `${MAPS}/one`);
    expect(body).toMatchObject({
      data: { a: '1' },
      metadata: { uid: known.uid, resourceVersion: known.resourceVersion },
    });
    expect((await qd.request('GET', `${MAPS}/later`)).code).toBe(404);
    const secret = (await qd.request('GET', `${SECRETS}/one`)).body;
    expect(Buffer.from(secret.data.password, 'base64').toString()).toBe('geheim');
    // The old administrator has a certificate of the same authority, and its kubeconfig the same address.
    for (const name of ['ca.crt', 'sa.key']) {
      expect(await readFile(join(data(), 'pki', name), 'utf8')).toBe(
        await readFile(join(origin, 'data', 'pki', name), 'utf8'),
      );
    }
    const review = { spec: { token: known.token } };
    const { status } = (await qd.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: review })).body;
    expect(status).toMatchObject({ authenticated: true, user: { username: 'system:serviceaccount:default:default' } });
    const made = (await qd.request('POST', MAPS, { body: { metadata: { name: 'new' } } })).body;
    expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(Number(known.resourceVersion) + 1_000_000_000);
    const watch = await qd.request('GET', `${MAPS}?watch=true&resourceVersion=${Number(known.resourceVersion) + 1}`);
    expect(watch.text).toContain('"code":410');
  });

  test('has another name with --name', async () => {
    const home = { env: { HOME: scratch } };
    expect(await runQd(['restore', backup, '--name', 'other'], home)).toMatchObject({ code: 0 });
    const listed = await runQd(['list', '--json'], home);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'other', state: 'stopped' }]);
  });
});

describe('a moment', () => {
  test('before a backup is restored from it, and one after all backups from the data directory', async () => {
    const home = join(scratch, 'live');
    await mkdir(home);
    const qd = await start(home);
    const map = (name: string, value: string) => ({ body: { metadata: { name }, data: { is: value } } });
    // What was acknowledged before another request is in history with an earlier time.
    const now = async () => {
      await qd.request('GET', '/readyz');
      return new Date().toISOString();
    };
    const names = async (server: Qd) =>
      Object.fromEntries(
        (await server.request('GET', MAPS)).body.items
          .filter(({ data }: any) => data.is)
          .map(({ metadata, data }: any) => [metadata.name, data.is]),
      );
    await qd.request('POST', MAPS, map('changed', 'first'));
    await qd.request('POST', MAPS, map('deleted', 'first'));
    const first = await now();
    await qd.request('PUT', `${MAPS}/changed`, map('changed', 'second'));
    await qd.request('DELETE', `${MAPS}/deleted`);
    await qd.request('POST', MAPS, map('created', 'second'));
    const second = await now();
    expect(await runQd(['backup', 'now', '--data-dir', join(home, 'data')])).toMatchObject({ code: 0 });
    await qd.request('DELETE', `${MAPS}/created`);
    const third = await now();
    await qd.request('PUT', `${MAPS}/changed`, map('changed', 'fourth'));
    expect(await qd.stop()).toBe(0);
    const expected = [
      [first, { changed: 'first', deleted: 'first' }],
      [second, { changed: 'second', created: 'second' }],
      [third, { changed: 'second' }],
    ] as const;
    for (const [at, maps] of expected) {
      expect(await restore(join(home, 'data'), '--at', at)).toMatchObject({ code: 0, stderr: '' });
      const restored = await start(scratch);
      expect(await names(restored), at).toEqual(maps);
      await restored.stop();
      await rm(data(), { recursive: true });
    }
  });
});

describe('a directory', () => {
  test('with a cluster, or with anything else, is not restored to', async () => {
    const rejected = await runQd(['restore', backup, '--data-dir', join(origin, 'data')]);
    expect(rejected).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^qd: \S+ has a cluster; restore to another/),
    });
    await mkdir(data());
    await writeFile(join(data(), 'pki'), 'mine');
    expect(await restore(backup)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty, it has pki'),
    });
    expect(await readdir(data())).toEqual(['pki']);
  });

  test('in which a restore was interrupted has no cluster, until the restore runs again', async () => {
    await mkdir(join(data(), 'restoring', 'pki'), { recursive: true });
    await mkdir(join(data(), 'store'));
    const up = await runQd(['up', '--data-dir', data(), '--port', '0']);
    expect(up).toMatchObject({ code: 1, stderr: expect.stringContaining('was interrupted; run qd restore again') });
    expect(await restore(backup)).toMatchObject({ code: 0 });
    expect((await readdir(data())).sort()).toEqual(['cluster.json', 'encryption.key', 'pki', 'store']);
  });
});

describe('a backup', () => {
  test('of a stopped cluster is taken by the command', async () => {
    const to = join(scratch, 'location');
    const taken = await runQd(['backup', 'now', '--to', to, '--data-dir', join(origin, 'data')]);
    expect(taken.stdout).toMatch(/^\S+-manual\.qdbackup: \d+ objects, \d+ KiB, in \S+\/location\n$/);
    const [name] = await readdir(to);
    expect((await stat(join(to, name!))).mode & 0o077).toBe(0);
    const listed = await runQd(['backup', 'ls', '--from', to, '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name, kind: 'manual', isSealed: false }]);
    expect(await restore(to)).toMatchObject({ code: 0 });
    const qd = await start(scratch);
    expect((await qd.request('GET', `${MAPS}/later`)).code).toBe(200);
    const removed = await runQd(['backup', 'rm', name!, '--from', to]);
    expect(removed).toMatchObject({ code: 0, stdout: `Removed ${name}.\n` });
    expect(await readdir(to)).toEqual([]);
  });

  test('is verified as a cluster in memory', async () => {
    const verified = await runQd(['backup', 'verify', backup, '--json']);
    expect(verified.stderr).toBe('');
    expect(JSON.parse(verified.stdout)).toMatchObject({
      isUsable: true,
      unreadable: [],
      damaged: [],
      kinds: expect.arrayContaining([
        { kind: 'Namespace', count: 4 },
        { kind: 'ConfigMap', count: expect.any(Number) },
      ]),
    });
    expect(verified.code).toBe(0);
  });

  test('that is damaged or truncated is rejected, and nothing is created', async () => {
    const file = join(scratch, 'copy.qdbackup');
    await copyFile(backup, file);
    const { size } = await stat(file);
    await truncate(file, size - 100);
    for (const args of [
      ['restore', file, '--data-dir', data()],
      ['backup', 'verify', file],
    ]) {
      const { code, stderr } = await runQd(args);
      expect([code, stderr]).toEqual([
        1,
        `qd: ${file}: the backup is truncated: it ends within a block, or before its end\n`,
      ]);
    }
    const bytes = await readFile(backup);
    bytes[Math.floor(size / 2)]! ^= 1;
    await writeFile(file, bytes);
    expect((await restore(file)).stderr).toMatch(
      /the backup is damaged: the checksum of a block of "(rows|changes)" does not match/,
    );
    await writeFile(file, 'hello');
    expect((await restore(file)).stderr).toMatch(/is not a backup/);
    expect(await readdir(scratch)).toEqual(['copy.qdbackup']);
  });

  test('of one of several clusters at a target is chosen by its name', async () => {
    const to = join(scratch, 'shared');
    await mkdir(to);
    for (const name of ['dev', 'prod']) await copyFile(backup, join(to, `${name}-20260101T000000Z-hourly.qdbackup`));
    expect(await restore(to)).toMatchObject({ code: 1, stderr: expect.stringContaining('--cluster: dev, prod') });
    const restored = await restore(to, '--cluster', 'prod');
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('from prod-20260101T000000Z-hourly') });
    const missing = await runQd(['backup', 'rm', 'dev-20250101T000000Z-hourly.qdbackup', '--from', to]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('has no backup dev-20250101') });
  });

  test.each([
    [['--at', '2020-01-01T00:00:00Z'], 'no backup reaches back to that moment'],
    [['--at', '2120-01-01T00:00:00Z'], 'is in the future'],
    [['--at', 'yesterday'], 'It must be a time'],
  ])('is not restored with %s', async (flags, message) => {
    expect(await restore(backup, ...flags)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  });
});

describe.skipIf(noEtcd)('a cluster on etcd', () => {
  test('is backed up without etcdctl, and restored to a data directory', async () => {
    const etcd = await TestEtcd.start();
    try {
      const home = join(scratch, 'on-etcd');
      await mkdir(home);
      const qd = await start(home, ['--store', 'etcd', '--etcd-servers', etcd.endpoint]);
      await qd.request('POST', SECRETS, { body: { metadata: { name: 'two' }, stringData: { password: 'geheim' } } });
      const { metadata } = (await qd.request('POST', MAPS, { body: { metadata: { name: 'two' }, data: { a: '1' } } }))
        .body;
      const taken = await runQd(['backup', 'now', '--data-dir', join(home, 'data')]);
      expect(taken).toMatchObject({ code: 0, stderr: '' });
      expect(await qd.stop()).toBe(0);
      const restored = await restore(join(home, 'data', 'backups'));
      expect(restored).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('qd store migrate --to etcd --ha'),
      });
      const again = await start(scratch);
      const { body } = await again.request('GET', `${MAPS}/two`);
      expect(body.metadata).toMatchObject({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
      const secret = (await again.request('GET', `${SECRETS}/two`)).body;
      expect(Buffer.from(secret.data.password, 'base64').toString()).toBe('geheim');
      expect((await again.request('POST', MAPS, { body: { metadata: { name: 'three' } } })).code).toBe(200);
    } finally {
      await etcd.remove();
    }
  });
});

async function createBucket(location: string, variables: NodeJS.ProcessEnv): Promise<void> {
  const settings = await readSettings(location, { variables, home: scratch });
  await new S3Client(settings, { clock: systemClock, ca: undefined }, systemRandom).call({ method: 'PUT' });
}

describe.skipIf(missingS3)('a bucket', () => {
  test('has encrypted backups, which are restored on another machine', async () => {
    const s3 = await TestS3.start();
    try {
      const env = { ...S3_KEYS, AWS_ENDPOINT_URL: s3.endpoint };
      await createBucket('s3://backups', env);
      const passphrase = join(scratch, 'passphrase');
      await writeFile(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
      const location = 's3://backups/dev';
      const home = join(scratch, 'live');
      await mkdir(home);
      const plain = await runQd(['up', '--data-dir', join(home, 'data'), '--backup-to', location], { env });
      expect(plain).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('encrypt them with --backup-passphrase'),
      });
      const flags = ['--backup-to', location, '--backup-passphrase-file', passphrase];
      const qd = await startQd({ directory: home, flags, env });
      running.push(qd);
      await qd.request('POST', MAPS, { body: { metadata: { name: 'kept' } } });
      const taken = await runQd(['backup', 'now', '--data-dir', join(home, 'data')], { env });
      expect(taken).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\.qdbackup\.age: .* in s3:/) });
      expect(await qd.stop()).toBe(0);
      const without = await runQd(['restore', location, '--data-dir', data()], { env });
      expect(without).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('name its key with --passphrase-file'),
      });
      const restored = await runQd(['restore', location, '--data-dir', data(), '--passphrase-file', passphrase], {
        env,
      });
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      const again = await startQd({ directory: scratch, flags: ['--backups=false'], env });
      running.push(again);
      expect((await again.request('GET', `${MAPS}/kept`)).code).toBe(200);
    } finally {
      await s3.stop();
    }
  });
});

describe('qd status', () => {
  test('shows the cluster, and warns when it is not in order', async () => {
    const stopped = await runQd(['status', '--data-dir', join(origin, 'data')]);
    expect(stopped).toMatchObject({ code: 1, stdout: expect.stringContaining('warning: the cluster is stopped\n') });
    const qd = await start(scratch, ['--nodes', '2']);
    await qd.until('/api/v1/nodes', ({ status }) => status?.conditions?.some((each: any) => each.status === 'True'));
    expect(await runQd(['backup', 'now', '--data-dir', data()])).toMatchObject({ code: 0 });
    const { code, stdout } = await runQd(['status', '--data-dir', data(), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      cluster: { state: 'running' },
      api: { nodes: 2 },
      backups: { isScheduled: true, failures: 0, newest: { name: expect.stringContaining('-manual.qdbackup') } },
    });
    expect(code).toBe(JSON.parse(stdout).warnings.length === 0 ? 0 : 1);
  });
});
