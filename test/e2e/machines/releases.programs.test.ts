/**
 * Tests servers of two releases on one etcd: the last tag and the present sources. While there is no tag, and where both have
 * the same level, the newer one is a build of the present sources with the next minor version and level in its package.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { minorOf, nextMinor } from '../../../src/api/release.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import { openEtcdStore } from '../../../src/store/index.ts';
import { etcdMissing, TestEtcd } from '../../support/etcd.ts';
import { type BuiltRelease, buildRelease, lastTag, presentRelease } from '../../support/releases.ts';
import { type Qd, runQd, startQd } from '../program.ts';

const missing = etcdMissing();
if (missing) console.log(`skipped: ${missing}`);

const MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';
const SERVERS =
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver';
const LED = ['kube-controller-manager', 'kube-scheduler'];

let folder: string;
let older: BuiltRelease;
let newer: BuiltRelease;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qd-releases-'));
  const present = await presentRelease();
  const tag = await lastTag();
  older = tag === undefined ? present : await buildRelease({ ref: tag }, join(folder, 'older'));
  const next = { version: `${nextMinor(older.version)}.0`, level: older.level + 1 };
  newer = present.level > older.level ? present : await buildRelease({ release: next }, join(folder, 'newer'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The line of the leader that has recorded that no older server lives. */
const RISEN = 'the minimum level of servers has risen';
const rejection = () =>
  `qd: the cluster in this store needs servers of level ${newer.level} and was last run by Quarterdeck ${minorOf(newer.version)}, ` +
  `and this is Quarterdeck ${older.version} of level ${older.level}; install Quarterdeck ${minorOf(newer.version)} here`;
const said = (qd: Qd, text: string) => expect.poll(qd.output, { timeout: 20_000 }).toContain(text);

describe.skipIf(missing)('servers of two releases on one etcd', () => {
  let etcd: TestEtcd;
  let flags: readonly string[];
  let a: Qd;
  let b: Qd;

  beforeAll(async () => {
    etcd = await TestEtcd.start();
    flags = ['--store', 'etcd', '--etcd-servers', etcd.endpoint, '--log-level', 'info'];
    a = await startQd({ flags, dist: older.dist, directory: join(folder, 'a') });
    flags = [...flags, '--encryption-key-file', join(a.directory, 'data', 'encryption.key')];
    b = await startQd({ flags, dist: newer.dist, directory: join(folder, 'b') });
  });
  afterAll(async () => {
    for (const qd of [a, b]) await qd?.stop('SIGKILL');
    await etcd?.remove();
  });

  const deployment = (name: string) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } };
    return { metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
  };
  /** Creates a Deployment through a server, and resolves when a leader has acted on it. */
  const acted = async (qd: Qd, name: string) => {
    expect((await qd.request('POST', DEPLOYMENTS, { body: deployment(name) })).code).toBe(200);
    return qd.until(REPLICA_SETS, ({ metadata }) => metadata.labels?.app === name);
  };
  const leads = (qd: Qd) => LED.filter((lease) => new RegExp(`"${lease}".*"became leader"`).test(qd.output()));

  test('say in their leases which they are', async () => {
    const { items } = (await b.request('GET', SERVERS)).body;
    const releases = items.map(({ metadata: { annotations } }: any) =>
      ['version', 'level', 'candidate-for'].map((name) => annotations[`apiserver.kubernetes.io/${name}`]),
    );
    expect(releases.sort()).toEqual(
      [older, newer].map(({ version, level }) => [version, String(level), LED.join(',')]),
    );
  });

  test('serve each other’s writes, and store the same versions', async () => {
    for (const [name, from, to] of [
      ['of-older', a, b],
      ['of-newer', b, a],
    ] as const) {
      await from.request('POST', MAPS, { body: { metadata: { name }, data: { name } } });
      const patch = { body: { data: { patched: 'yes' } }, type: 'application/merge-patch+json' };
      expect((await to.request('PATCH', `${MAPS}/${name}`, patch)).code).toBe(200);
      expect((await from.request('GET', `${MAPS}/${name}`)).body.data).toEqual({ name, patched: 'yes' });
      await acted(from, name);
    }
    const store = await openEtcdStore({ endpoints: [etcd.endpoint], clock: systemClock });
    const { rows } = await store.list('/registry/apps/deployments/');
    await store.close();
    const versions = rows.map(({ value }) => JSON.parse(value.toString()).apiVersion);
    expect(versions).toEqual(['apps/v1', 'apps/v1']);
  });

  test('agree on discovery', async () => {
    const groups = async (qd: Qd) =>
      (await qd.request('GET', '/apis')).body.groups.map(({ name, preferredVersion }: any) => [name, preferredVersion]);
    // A newer release may serve more.
    expect(await groups(b)).toEqual(expect.arrayContaining(await groups(a)));
  });

  test('are led by an older one while there is one, and then by the newer one', async () => {
    expect([leads(a).sort(), leads(b)]).toEqual([LED, []]);
    const c = await startQd({ flags, dist: older.dist, directory: join(folder, 'c') });
    try {
      await a.stop();
      await acted(b, 'after-first');
      await expect.poll(() => leads(c).sort(), { timeout: 20_000 }).toEqual(LED);
      expect(leads(b)).toEqual([]);
      expect(b.output()).not.toContain(RISEN);
    } finally {
      await c.stop('SIGKILL');
    }
    await acted(b, 'after-last');
    await said(b, RISEN);
    await expect.poll(() => leads(b).sort(), { timeout: 20_000 }).toEqual(LED);
  });

  test('reject the older one from then on, and go on', async () => {
    const start = ['up', '--data-dir', join(a.directory, 'data')];
    const { code, stderr } = await runQd(start, { dist: older.dist });
    expect(code).toBe(1);
    expect(stderr).toContain(rejection());
    expect((await b.request('GET', `${MAPS}/of-older`)).code).toBe(200);
  });
});

test('an embedded store goes from one release to the next, and not back once its level has risen', async () => {
  const directory = join(folder, 'embedded');
  const flags = ['--log-level', 'info'];
  const data = ['--data-dir', join(directory, 'data')];
  const before = await startQd({ directory, flags, dist: older.dist });
  await before.request('POST', MAPS, { body: { metadata: { name: 'kept' } } });
  const broken = join(folder, 'broken');
  await mkdir(broken);
  await writeFile(
    join(broken, 'package.json'),
    JSON.stringify({ ...newer, name: 'quarterdeck', bin: { qd: 'qd.js' } }),
  );
  await writeFile(join(broken, 'qd.js'), 'process.exit(3);');
  const failed = await runQd(['upgrade', broken, ...data]);
  expect(failed.stderr).toMatch(/^qd: the upgrade to \S+ failed; cluster "\S+" runs with \S+ as before$/m);
  expect([failed.code, before.child.exitCode]).toEqual([1, 0]);
  const upgraded = await runQd(['upgrade', join(newer.dist, '..'), ...data]);
  expect([upgraded.code, upgraded.stderr]).toEqual([0, '']);
  const log = () => readFile(join(directory, 'data', 'qd.log'), 'utf8');
  await expect.poll(log, { timeout: 20_000 }).toContain(RISEN);
  expect((await runQd(['down', ...data])).code).toBe(0);
  const { code, stderr } = await runQd(['up', ...data], { dist: older.dist });
  expect(code).toBe(1);
  expect(stderr).toContain(rejection());
  const again = await startQd({ directory, flags, dist: newer.dist });
  expect((await again.request('GET', `${MAPS}/kept`)).code).toBe(200);
  await again.stop();
});
