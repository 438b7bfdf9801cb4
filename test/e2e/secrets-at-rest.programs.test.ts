/** Tests the data on the disk: encrypted secrets, keys that change, snapshots. */
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const SECRETS = '/api/v1/namespaces/default/secrets';
const MAPS = '/api/v1/namespaces/default/configmaps';
const PASSWORD = 'correct horse battery staple';
const secret = (name: string) => ({ body: { metadata: { name }, stringData: { password: PASSWORD } } });

let directory: string;
const running: Qd[] = [];
const start = async (where = directory, flags: readonly string[] = []) => {
  const qd = await startQd({ directory: where, flags });
  running.push(qd);
  return qd;
};
beforeEach(async () => {
  directory = await newDirectory();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((qd) => qd.stop('SIGKILL')));
  await rm(directory, { recursive: true, force: true });
});

const data = (where = directory) => join(where, 'data');
const onDisk = async () => (await readFile(join(data(), 'store', 'data.mdb'))).toString('latin1');
const run = (...args: string[]) => runQd([...args, '--data-dir', data()]);

describe('secrets at rest', () => {
  test('no secret is readable in the store, and only the owner can read its files', async () => {
    const qd = await start();
    expect((await qd.request('POST', SECRETS, secret('one'))).code).toBe(200);
    await qd.stop();
    const bytes = await onDisk();
    expect(bytes).toContain('/registry/core/secrets/default/one');
    expect(bytes).not.toContain(PASSWORD);
    expect(bytes).not.toContain(Buffer.from(PASSWORD).toString('base64'));
    for (const file of await readdir(data(), { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const { mode } = await stat(join(file.parentPath, file.name));
      expect([file.name, mode & 0o077]).toEqual([file.name, /\.(crt|pub)$/.test(file.name) ? mode & 0o077 : 0]);
    }
    const again = await start();
    const { body } = await again.request('GET', `${SECRETS}/one`);
    expect(Buffer.from(body.data.password, 'base64').toString()).toBe(PASSWORD);
  });

  test('a new key is taken into use while the cluster runs', async () => {
    const qd = await start();
    await qd.request('POST', SECRETS, secret('one'));
    const [old] = (await run('encryption', 'show')).stdout.split(' ');
    const before = (await qd.request('GET', `${SECRETS}/one`)).body;
    const events = await qd.watch(`${SECRETS}/one?watch=true&resourceVersion=${before.metadata.resourceVersion}`);
    const rotated = await run('encryption', 'rotate');
    expect(rotated.stdout).toMatch(/^[0-9a-f]{8} is the current key; process \d+ re-encrypts all Secrets with it\n$/);
    for await (const event of events) {
      expect(event).toMatchObject({ type: 'MODIFIED', object: { data: before.data } });
      break;
    }
    const [first, second] = (await run('encryption', 'show')).stdout.trim().split('\n');
    expect(first).toBe(`${rotated.stdout.slice(0, 8)}  current`);
    expect(second).toBe(`${old}  replaced`);
    expect((await qd.request('GET', `${SECRETS}/one`)).body.data).toEqual(before.data);
  });

  test('a replaced key is removed when nothing needs it any more, and not before', async () => {
    const qd = await start();
    for (const name of ['one', 'another']) await qd.request('POST', SECRETS, secret(name));
    await qd.stop();
    const [old] = (await run('encryption', 'show')).stdout.split(' ');
    expect((await run('encryption', 'forget')).stdout).toBe(`${old} is the only key\n`);
    expect((await run('encryption', 'forget', old!)).stderr).toBe(
      `qd: ${old} is the current key; qd encryption rotate creates another one\n`,
    );
    const next = (await run('encryption', 'rotate')).stdout.slice(0, 8);
    const early = await run('encryption', 'forget');
    expect(early.code).toBe(1);
    expect(early.stderr).toMatch(
      new RegExp(`^qd: \\d+ Secrets are still encrypted with ${old}; the cluster re-encrypts them`),
    );
    expect((await run('encryption', 'show')).stdout).toContain(old);

    const again = await start(directory, ['--log-level', 'info']);
    await expect.poll(() => again.output()).toContain('secrets re-encrypted with the newest key');
    expect((await run('encryption', 'forget', 'deadbeef')).stderr).toContain('there is no key deadbeef');
    expect(await run('encryption', 'forget')).toMatchObject({ code: 0, stderr: '' });
    expect((await run('encryption', 'show')).stdout).toBe(`${next}  current\n`);
    expect((await again.request('POST', SECRETS, secret('two'))).code).toBe(200);
    await again.stop('SIGKILL');
    const last = await start();
    for (const name of ['one', 'two']) expect((await last.request('GET', `${SECRETS}/${name}`)).code).toBe(200);
  });

  test('a key is removed while a cluster re-encrypts, and nothing is lost', async () => {
    const qd = await start();
    await Promise.all(Array.from({ length: 200 }, (_, i) => qd.request('POST', SECRETS, secret(`s-${i}`))));
    for (let round = 0; round < 3; round++) {
      await run('encryption', 'rotate');
      // Rejected until the last secret is written anew.
      await expect.poll(async () => (await run('encryption', 'forget')).code, { interval: 250 }).toBe(0);
      expect((await qd.request('POST', SECRETS, secret(`round-${round}`))).code).toBe(200);
    }
    expect((await run('encryption', 'show')).stdout).toMatch(/^[0-9a-f]{8} {2}current\n$/);
    await qd.stop('SIGKILL');
    const again = await start();
    expect((await again.request('GET', SECRETS)).body.items.length).toBeGreaterThanOrEqual(203);
  });

  test('history has no readable secret, and is re-encrypted with a new key', async () => {
    const qd = await start();
    const { body } = await qd.request('POST', SECRETS, secret('one'));
    const { resourceVersion } = body.metadata;
    await qd.request('PUT', `${SECRETS}/one`, { body: { ...body, data: { password: 'bmV3' } } });
    await run('encryption', 'rotate');
    await expect.poll(async () => (await run('encryption', 'forget')).code, { interval: 250 }).toBe(0);
    await qd.stop();
    const history = (await readFile(join(data(), 'history', 'data.mdb'))).toString('latin1');
    expect(history).toContain('/registry/core/secrets/default/one');
    for (const text of [PASSWORD, Buffer.from(PASSWORD).toString('base64')]) expect(history).not.toContain(text);
    const again = await start();
    // What the store keeps for watches was discarded with the old key.
    const past = `/history${SECRETS}/one?at=${resourceVersion}`;
    await expect.poll(async () => (await again.request('GET', past)).body.data?.password).toBe(body.data.password);
  });

  test.skipIf(etcdMissing() !== undefined)('on etcd, a key is removed in the same order', async () => {
    const etcd = await TestEtcd.start();
    try {
      const flags = ['--store', 'etcd', '--etcd-servers', etcd.endpoint, '--log-level', 'info'];
      const qd = await start(directory, flags);
      await qd.request('POST', SECRETS, secret('one'));
      await qd.stop();
      const [old] = (await run('encryption', 'show')).stdout.split(' ');
      await run('encryption', 'rotate');
      expect((await run('encryption', 'forget')).stderr).toContain(`still encrypted with ${old}`);
      const again = await start(directory, flags);
      await expect.poll(() => again.output()).toContain('secrets re-encrypted with the newest key');
      expect(await run('encryption', 'forget')).toMatchObject({ code: 0, stderr: '' });
      expect((await again.request('GET', `${SECRETS}/one`)).code).toBe(200);
      await again.stop();
      expect((await (await start(directory, flags)).request('GET', `${SECRETS}/one`)).code).toBe(200);
    } finally {
      await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
      await etcd.remove();
    }
  });

  test('without its key file, or with one that other users can read, a cluster does not start and loses nothing', async () => {
    const qd = await start();
    await qd.request('POST', SECRETS, secret('one'));
    await qd.stop();
    const file = join(data(), 'encryption.key');
    const keys = await readFile(file);
    await chmod(file, 0o644);
    const open = await runQd([
      'up',
      '--data-dir',
      data(),
      '--port',
      '0',
      '--kubeconfig',
      join(directory, 'kubeconfig'),
    ]);
    expect(open).toMatchObject({ code: 1, stderr: `qd: ${file} is readable by other users; run chmod 600 on it\n` });
    await rm(file);
    const missing = await runQd([
      'up',
      '--data-dir',
      data(),
      '--port',
      '0',
      '--kubeconfig',
      join(directory, 'kubeconfig'),
    ]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(
      /^qd: \/registry\/core\/secrets\/\S+ is encrypted with the key [0-9a-f]{8}, which is not in the key file\n$/,
    );
    await writeFile(file, keys, { mode: 0o600 });
    const again = await start();
    expect((await again.request('GET', `${SECRETS}/one`)).code).toBe(200);
  });
});

describe('snapshots', () => {
  const file = () => join(directory, 'snapshot.qd');

  test('are taken during writes, are consistent, and start a cluster that continues', async () => {
    const qd = await start();
    await qd.request('POST', SECRETS, secret('one'));
    let writing = true;
    let last = 0;
    const writer = (async () => {
      for (let i = 1; writing; i++) {
        await qd.request('POST', MAPS, { body: { metadata: { name: `map-${i}` } } });
        last = i;
      }
    })();
    const saved = await run('snapshot', 'save', file());
    expect(saved).toMatchObject({ code: 0, stderr: '' });
    writing = false;
    await writer;
    expect((await readFile(file())).toString('latin1')).not.toContain(Buffer.from(PASSWORD).toString('base64'));
    expect((await runQd(['snapshot', 'check', file()])).stdout).toContain('complete; revision');
    const { resourceVersion } = (await qd.request('GET', MAPS)).body.metadata;
    await qd.stop();

    const rejected = await run('snapshot', 'restore', file());
    expect(rejected.stderr).toContain('has objects; use --force to replace them');
    const restored = await run('snapshot', 'restore', file(), '--force');
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    const again = await start();
    const { body } = await again.request('GET', MAPS);
    const names = body.items
      .map(({ metadata }: any) => metadata.name)
      .filter((name: string) => name.startsWith('map-'));
    // Writes came one after the other: the snapshot has the first ones.
    expect(names.length).toBeLessThanOrEqual(last);
    expect(new Set(names)).toEqual(new Set(names.map((_: string, i: number) => `map-${i + 1}`)));
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
    expect((await again.request('GET', `${SECRETS}/one`)).code).toBe(200);
    const expired = await again.request('GET', `${MAPS}?watch=true&resourceVersion=${resourceVersion}`);
    expect(JSON.stringify(expired.body)).toContain('410');
  });

  test('start a cluster elsewhere, given its keys', async () => {
    const qd = await start();
    await qd.request('POST', SECRETS, secret('one'));
    await run('snapshot', 'save', file());
    const elsewhere = await newDirectory();
    try {
      await mkdir(data(elsewhere), { recursive: true });
      await cp(join(data(), 'pki'), join(data(elsewhere), 'pki'), { recursive: true });
      await cp(join(data(), 'encryption.key'), join(data(elsewhere), 'encryption.key'));
      expect(await runQd(['snapshot', 'restore', file(), '--data-dir', data(elsewhere)])).toMatchObject({ code: 0 });
      const other = await start(elsewhere);
      expect((await other.request('GET', `${SECRETS}/one`)).code).toBe(200);
    } finally {
      await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  test('that are damaged, truncated or no snapshots are rejected; a running cluster is not restored', async () => {
    const qd = await start();
    await run('snapshot', 'save', file());
    expect((await run('snapshot', 'save', file())).stderr).toContain('already exists');
    expect((await run('snapshot', 'restore', file(), '--force')).stderr).toMatch(
      /the cluster is running as process \d+; stop it first/,
    );
    await qd.stop();
    const bytes = await readFile(file());
    const damaged = Buffer.from(bytes);
    damaged[bytes.length - 5000]! ^= 1;
    for (const [content, words] of [
      [damaged, 'is damaged: its checksum does not match'],
      [bytes.subarray(0, -100), 'is truncated'],
      [Buffer.from('hello\n'), 'is not a snapshot'],
    ] as const) {
      await writeFile(file(), content);
      const answer = await run('snapshot', 'restore', file(), '--force');
      expect(answer.code).toBe(1);
      expect(answer.stderr).toContain(words);
    }
    expect((await (await start()).request('GET', MAPS)).code).toBe(200);
  });
});
