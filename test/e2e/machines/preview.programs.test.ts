/** Tests `qd upgrade --preview`: the present sources, and builds of them in which something differs. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { nextMinor } from '../../../src/api/release.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import { openEtcdStore } from '../../../src/store/index.ts';
import { etcdMissing, TestEtcd } from '../../support/etcd.ts';
import { freePort } from '../../support/free-port.ts';
import { type BuiltRelease, buildRelease, presentRelease } from '../../support/releases.ts';
import { type Qd, runQd, startQd } from '../program.ts';

const missing = etcdMissing();
if (missing) console.log(`skipped in part: ${missing}`);

const CANDIDATES = '/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates';
const SECRETS = '/api/v1/namespaces/default/secrets';
const QUIET_MS = 3_000;
const SETTLE_TIMEOUT_MS = 60_000;
const GONE = '/registry/coordination.k8s.io/leasecandidates/default/a';
/** Of a later minor release, from whose sources a kind is removed, a flag renamed, and a default role changed. */
const EDITS = {
  'src/kinds/all.ts': ['  LeaseCandidate,\n', ''],
  'src/cli/up/observability/flags.ts': ['--audit-log-maxage <', '--audit-log-age <'],
  'src/server/access/authz/rbac/policy/people.ts': ['  view: [', "  view: [\n    on('example.com', 'boats', 'get'),"],
} as const;

let folder: string;
let present: BuiltRelease;
let next: BuiltRelease;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qd-preview-'));
  present = await presentRelease();
  const release = { version: `${nextMinor(present.version)}.0`, level: present.level + 1 };
  next = await buildRelease({ release, edits: EDITS }, join(folder, 'next'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A release that is no more than a program. */
async function scripted(name: string, program: string, version = present.version): Promise<string> {
  const directory = join(folder, name);
  await mkdir(directory);
  const described = { name: 'quarterdeck', version, level: present.level, bin: { qd: 'qd.js' } };
  await writeFile(join(directory, 'package.json'), JSON.stringify(described));
  await writeFile(join(directory, 'qd.js'), program);
  return directory;
}

/** The content of every file but those that processes write for themselves. */
async function filesIn(directory: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && !/^(data\.mdb-lock|lock|qd\.log|audit\.log)$/.test(entry.name),
  );
  const digests = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    const digest = createHash('sha256').update(await readFile(path));
    return [relative(directory, path), digest.digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(digests));
}

const leftInMemory = async () => {
  const folders = [tmpdir(), '/dev/shm'].map((each) => readdir(each).catch((): string[] => []));
  return (await Promise.all(folders)).flat().filter((name) => /^qd-preview-\d+-/.test(name));
};

async function preview(release: string, data: string, ...flags: readonly string[]) {
  const given = ['upgrade', release, '--preview', '--data-dir', data, '--preview-time', '1s', ...flags];
  const { code, stdout, stderr } = await runQd(given);
  return { code, stdout, stderr, report: flags.includes('json') ? JSON.parse(stdout) : undefined };
}

const directoryOf = ({ dist }: BuiltRelease) => join(dist, '..');

async function fill(qd: Qd): Promise<void> {
  const spec = {
    leaseName: 'x',
    binaryVersion: '1.0.0',
    emulationVersion: '1.0.0',
    strategy: 'OldestEmulationVersion',
  };
  for (const [path, body] of [
    [CANDIDATES, { metadata: { name: 'a' }, spec }],
    [SECRETS, { metadata: { name: 's' }, data: { password: 'aHVudGVyMg==' } }],
  ] as const) {
    expect((await qd.request('POST', path, { body })).code).toBe(200);
  }
}

/** A cluster that has just started goes on writing: nothing says when that is over but that nothing is written. */
function settled(state: () => Promise<string>): Promise<void> {
  let last: string | undefined;
  const isQuiet = async () => {
    const before = last;
    last = await state();
    expect(last).toBe(before);
  };
  return vi.waitFor(isQuiet, { interval: QUIET_MS, timeout: SETTLE_TIMEOUT_MS });
}

describe('a preview of a cluster in its data directory', () => {
  let qd: Qd;
  let data: string;
  let before: Readonly<Record<string, string>>;
  const revision = async () => (await qd.request('GET', '/api/v1/namespaces')).body.metadata.resourceVersion;

  beforeAll(async () => {
    const directory = join(folder, 'embedded');
    qd = await startQd({ directory, flags: ['--audit-log-maxage', '7', '--audit-log-path', ''] });
    data = join(directory, 'data');
    await fill(qd);
    await settled(revision);
  });
  afterAll(() => qd?.stop('SIGKILL'));
  beforeEach(async () => {
    before = await filesIn(data);
  });

  test('says that nothing differs with the same release, while the cluster runs, and changes nothing', async () => {
    const was = await revision();
    const { code, report, stderr } = await preview(directoryOf(present), data, '-o', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(report).toMatchObject({
      works: true,
      wayBack: { closes: false },
      rejectedFlags: [],
      unreadableCount: 0,
      otherVersions: [],
      apis: { added: [], removed: [] },
      changes: [],
    });
    expect(report.notCompared).toBeUndefined();
    expect(await revision()).toBe(was);
    expect(await filesIn(data)).toEqual(before);
    expect(await leftInMemory()).toEqual([]);
  });

  test('names what another release rejects, cannot show, does not serve, and changes', async () => {
    const { code, report } = await preview(directoryOf(next), data, '-o', 'json');
    expect(code).toBe(1);
    expect(report).toMatchObject({
      works: false,
      from: { version: present.version, level: present.level },
      to: { version: next.version, level: next.level },
      wayBack: { closes: true },
      rejectedFlags: ["unknown option '--audit-log-maxage'"],
      unreadable: [{ key: GONE, reason: expect.stringContaining('serves no') }],
      apis: { added: [], removed: expect.arrayContaining([expect.stringMatching(/^coordination.*LeaseCandidate$/)]) },
    });
    expect(report.problem).toBeUndefined();
    const role = report.changes.find(({ name }: { name: string }) => name === 'view');
    expect(role).toMatchObject({ action: 'changed', kind: 'rbac.authorization.k8s.io/v1 ClusterRole' });
    expect(role.fields.join('\n')).toContain('"example.com"');
    expect(await filesIn(data)).toEqual(before);
  });

  test('is readable for people, and shows no Secret', async () => {
    const { code, stdout } = await preview(directoryOf(next), data);
    expect(code).toBe(1);
    expect(stdout).toContain(`way back: closes, because the level rises from ${present.level} to ${next.level}`);
    expect(stdout).toMatch(/^ {2}changed rbac\S+ ClusterRole view$/m);
    expect(stdout).toMatch(/^The upgrade would not work\. Nothing was changed\.$/m);
    expect(stdout).not.toMatch(/aHVudGVyMg|hunter2/);
  });

  test('says that a release does not start, and what it said', async () => {
    const broken = await scripted('broken', 'console.error("qd: no use"); process.exit(3);');
    const { code, report } = await preview(broken, data, '-o', 'json');
    expect([code, report.works, report.problem]).toEqual([1, false, 'qd: no use']);
    const silent = await scripted('silent', 'process.exit(3);');
    expect((await preview(silent, data)).stdout).toContain('does not become ready: it ended with 3');
    expect(await leftInMemory()).toEqual([]);
    expect(await filesIn(data)).toEqual(before);
  });

  test('goes on when the cluster is stopped, with the flags of its last start', async () => {
    await qd.stop();
    const stopped = await filesIn(data);
    const { code, report } = await preview(directoryOf(next), data, '-o', 'json');
    expect([code, report.knowsFlags]).toEqual([1, true]);
    expect(report.rejectedFlags).toEqual(["unknown option '--audit-log-maxage=7'"]);
    expect(report.unreadable).toMatchObject([{ key: GONE }]);
    expect(await filesIn(data)).toEqual(stopped);
  });
});

test.skipIf(missing)('a preview of a cluster on etcd leaves its revision', async () => {
  const etcd = await TestEtcd.start();
  const directory = join(folder, 'etcd');
  const qd = await startQd({ directory, flags: ['--store', 'etcd', '--etcd-servers', etcd.endpoint] });
  const data = join(directory, 'data');
  // Leases raise the revision of a store that servers share all the time.
  const versions = async () => {
    const lists = ['/api/v1/serviceaccounts', '/api/v1/configmaps', '/api/v1/secrets', '/api/v1/endpoints'];
    const found = await Promise.all(lists.map((path) => qd.request('GET', path)));
    const items: { metadata: { resourceVersion: string } }[] = found.flatMap(({ body }) => body.items);
    return items.map(({ metadata }) => metadata.resourceVersion).join();
  };
  try {
    await fill(qd);
    await settled(versions);
    const running = await preview(directoryOf(present), data, '-o', 'json');
    expect(running).toMatchObject({ code: 0, stderr: '', report: { works: true, changes: [], unreadableCount: 0 } });
    await qd.stop();
    const before = await filesIn(data);
    const revision = async () => {
      const store = await openEtcdStore({ endpoints: [etcd.endpoint], clock: systemClock });
      try {
        return await store.revision();
      } finally {
        await store.close();
      }
    };
    const was = await revision();
    const { code, report, stderr } = await preview(directoryOf(next), data, '-o', 'json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(report.problem).toBeUndefined();
    expect(report).toMatchObject({ rejectedFlags: [], unreadable: [{ key: GONE }] });
    expect(await revision()).toBe(was);
    expect(await filesIn(data)).toEqual(before);
  } finally {
    await qd.stop('SIGKILL');
    await etcd.remove();
  }
});

test.skipIf(missing)(
  'a preview of a server with an etcd of its own runs a copy of that while it is stopped',
  async () => {
    const directory = join(folder, 'ha');
    const ports = ['--etcd-port', String(await freePort()), '--etcd-peer-port', String(await freePort())];
    const qd = await startQd({ directory, flags: ['--ha', ...ports] });
    const data = join(directory, 'data');
    await fill(qd);
    await qd.stop();
    const before = await filesIn(data);
    const { code, report, stderr } = await preview(directoryOf(next), data, '-o', 'json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(report.problem).toBeUndefined();
    expect(report).toMatchObject({ rejectedFlags: [], unreadable: [{ key: GONE }] });
    expect(await filesIn(data)).toEqual(before);
    expect(await leftInMemory()).toEqual([]);
    expect(await runQd(['reset', '--yes', '--data-dir', data])).toMatchObject({ code: 0 });
  },
);
