/** Tests the location, the owners and the accounting of a pod's files. */
import { execFileSync, spawnSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRoot, podWith, VolumesWorld } from '../../../test/support/node/volumes-world.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { parseMountInfo } from './host/mount-table.ts';

const mounts = async () => parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
const mountAt = async (path: string) => (await mounts()).filter(({ mountPoint }) => mountPoint === path);
const REQUEST = {
  attempt: 0,
  env: [],
  hosts: '127.0.0.1 localhost\n',
  idMappings: undefined,
  supportsRecursiveReadOnly: false,
};

const secret = (name: string) => ({ name, secret: { secretName: 'keys', defaultMode: 0o640 } });
const token = {
  name: 'token',
  projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }] },
};
const downward = {
  name: 'about',
  downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] },
};
const config = { name: 'config', configMap: { name: 'settings' } };

async function world(options = {}) {
  const made = await VolumesWorld.create(options);
  made.secrets.set('shop/keys', { data: { key: Buffer.from('very secret').toString('base64') } });
  made.configMaps.set('shop/settings', { data: { a: '1' } });
  return made;
}

describe.runIf(isRoot)('Secrets, tokens and the downward API', () => {
  const pod = podWith([secret('one'), secret('two'), token, downward, config]);

  it('are in memory only, in one file system of the node', async () => {
    await using w = await world();
    await w.volumes.prepare(pod);
    const [mount] = await mountAt(join(w.root, 'memory'));
    expect(mount?.type).toBe('tmpfs');
    for (const [kind, name] of [
      ['secret', 'one'],
      ['secret', 'two'],
      ['projected', 'token'],
      ['downward-api', 'about'],
    ] as const) {
      expect(w.path(kind, name).startsWith(join(w.root, 'memory/'))).toBe(true);
      expect((await readdir(w.path(kind, name))).length).toBeGreaterThan(1);
    }
    expect(await readFile(join(w.path('secret', 'two'), 'key'), 'utf8')).toBe('very secret');
    expect(w.path('configmap', 'config').startsWith(join(w.root, 'pods/'))).toBe(true);
    execFileSync('umount', ['-l', join(w.root, 'memory')]);
    expect(spawnSync('grep', ['-rl', 'very secret', w.root], { encoding: 'utf8' }).stdout).toBe('');
  });

  it('are files and nothing else, which other users cannot list', async () => {
    await using w = await world();
    await w.volumes.prepare(pod);
    const table = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
    const line = table.find((each) => each.split(' ')[4] === join(w.root, 'memory'));
    expect(line).toContain('nosuid');
    expect(line).toContain('nodev');
    for (const path of ['memory', 'memory/u-1', 'pods', 'pods/u-1', 'pods/u-1/volumes']) {
      expect((await stat(join(w.root, path))).mode & 0o777).toBe(0o711);
    }
  });

  it('are taken over by a new agent, and gone with the pod', async () => {
    await using w = await world();
    await w.volumes.prepare(pod);
    const restarted = w.restarted();
    await restarted.prepare(pod);
    await restarted.refresh(pod);
    await restarted.close();
    expect(await mountAt(join(w.root, 'memory'))).toHaveLength(1);
    const last = w.restarted();
    expect(await last.leftovers()).toEqual(['u-1']);
    await last.release('u-1');
    expect(await last.leftovers()).toEqual([]);
    await last.close();
    expect(await mountAt(join(w.root, 'memory'))).toEqual([]);
  });

  it('are written again after a reboot, when memory is empty', async () => {
    await using w = await world();
    await w.volumes.prepare(pod);
    execFileSync('umount', ['-l', join(w.root, 'memory')]);
    await w.restarted().prepare(pod);
    expect(await mountAt(join(w.root, 'memory'))).toHaveLength(1);
    expect(await readFile(join(w.path('secret', 'one'), 'key'), 'utf8')).toBe('very secret');
  });

  it('stay where an earlier release has written them', async () => {
    await using w = await world({ canMount: false });
    const before = (await w.volumes.prepare(pod)).get('one');
    expect((await w.restarted({ canMount: true }).prepare(pod)).get('one')).toEqual(before);
    expect(await mountAt(join(w.root, 'memory'))).toEqual([]);
  });
});

describe.runIf(isRoot)('the owners of files', () => {
  const ownersOf = async (path: string) => {
    const { uid, gid } = await lstat(path);
    return [uid, gid];
  };
  const mapped = { userNamespaceOf: () => 'mapped-owners' as const };

  it('are those of the pod on this node, where the runtime cannot map mounts', async () => {
    await using w = await world(mapped);
    const pod = podWith([secret('keys'), token, config, { name: 'scratch', emptyDir: {} }], {
      securityContext: { fsGroup: 2000, runAsUser: 1000 },
    });
    await w.volumes.prepare(pod);
    const base = (await w.volumes.idMappings(pod))![0]!.hostId;
    expect(await ownersOf(w.path('empty-dir', 'scratch'))).toEqual([base, base + 2000]);
    expect((await stat(w.path('empty-dir', 'scratch'))).mode & 0o7777).toBe(0o2777);
    expect(await ownersOf(w.path('secret', 'keys'))).toEqual([base, base + 2000]);
    for (const path of [w.path('secret', 'keys'), w.path('configmap', 'config')]) {
      const data = join(path, '..data/');
      expect(await ownersOf(data)).toEqual([base, base + 2000]);
      for (const name of await readdir(data)) expect(await ownersOf(join(data, name))).toEqual([base, base + 2000]);
    }
    expect(await ownersOf(join(w.path('projected', 'token'), '..data/token'))).toEqual([base + 1000, base + 2000]);
    // They are kept when files are written again.
    await w.clock.advance(3_000_000);
    await w.restarted(mapped).refresh(pod);
    expect(await readFile(join(w.path('projected', 'token'), 'token'), 'utf8')).toBe('token-2');
    expect(await ownersOf(join(w.path('projected', 'token'), '..data/token'))).toEqual([base + 1000, base + 2000]);
  });

  it('are the pod’s root without a group, and mounts are not mapped again', async () => {
    await using w = await world(mapped);
    const pod = podWith([{ name: 'scratch', emptyDir: {} }]);
    await w.volumes.prepare(pod);
    const ids = (await w.volumes.idMappings(pod))!;
    const base = ids[0]!.hostId;
    const container = {
      ...pod.spec.containers[0]!,
      terminationMessagePath: '/dev/termination-log',
      volumeMounts: [{ name: 'scratch', mountPath: '/a', subPath: 'made/here' }],
    } as SeenPod['spec']['containers'][number];
    const { mounts: made } = await w.volumes.mounts(pod, container, { ...REQUEST, idMappings: ids });
    for (const { hostPath, idMappings } of made) {
      expect(idMappings).toBeUndefined();
      expect(await ownersOf(hostPath)).toEqual([base, base]);
    }
    expect(made).toHaveLength(3);
  });

  it('are numbers of the node where the pod has no ids of its own', async () => {
    await using w = await world();
    const pod = podWith([{ name: 'scratch', emptyDir: {} }], { securityContext: { fsGroup: 2000 } });
    await w.volumes.prepare(pod);
    expect(await ownersOf(w.path('empty-dir', 'scratch'))).toEqual([0, 2000]);
    expect(await w.volumes.idMappings(pod)).toBeUndefined();
  });

  it('cannot be outside of the ids of the pod', async () => {
    await using w = await world(mapped);
    const pod = podWith([{ name: 'scratch', emptyDir: {} }], { securityContext: { fsGroup: 70_000 } });
    await expect(w.volumes.prepare(pod)).rejects.toThrow(
      'the pod has no group 70000: its user namespace ends with 65535',
    );
  });
});

it('what a pod writes counts in /etc/hosts and in termination messages, too', async () => {
  await using w = await world();
  const pod = podWith([{ name: 'scratch', emptyDir: {} }]);
  await w.volumes.prepare(pod);
  const container = { ...pod.spec.containers[0]!, terminationMessagePath: '/dev/termination-log' };
  const { mounts: made } = await w.volumes.mounts(pod, container, REQUEST);
  const pathOf = (target: string) => made.find(({ containerPath }) => containerPath === target)!.hostPath;
  await writeFile(pathOf('/etc/hosts'), Buffer.alloc(3_000_000));
  await writeFile(pathOf('/dev/termination-log'), Buffer.alloc(2_000_000));
  await writeFile(join(w.path('empty-dir', 'scratch'), 'x'), Buffer.alloc(1_000_000));
  const { volumes, shared, containers } = await w.volumes.usage('u-1');
  expect(shared).toBeGreaterThanOrEqual(3_000_000);
  expect(containers.get('c')).toBeGreaterThanOrEqual(2_000_000);
  expect(volumes.get('scratch')).toBeGreaterThanOrEqual(1_000_000);
});

it('what a pod writes counts as too much when it is nested too deep to be measured', async () => {
  await using w = await world();
  await w.volumes.prepare(podWith([{ name: 'scratch', emptyDir: {} }]));
  const script = `for (let i = 0; i < 600; i++) { fs.mkdirSync('a'); fs.mkdirSync('b'); process.chdir('a'); }`;
  execFileSync(process.execPath, ['-e', script], { cwd: w.path('empty-dir', 'scratch') });
  expect((await w.volumes.usage('u-1')).volumes.get('scratch')).toBe(Number.MAX_SAFE_INTEGER);
  await w.volumes.release('u-1');
  expect(await w.volumes.leftovers()).toEqual([]);
});

it('makes no mount points through links of a file volume', async () => {
  await using w = await world();
  const outside = w.elsewhere('outside');
  await mkdir(outside, { recursive: true });
  await mkdir(w.path('configmap', 'config'), { recursive: true });
  await symlink(outside, join(w.path('configmap', 'config'), 'way'));
  const volumeMounts = [
    { name: 'config', mountPath: '/config' },
    { name: 'scratch', mountPath: '/config/way/made' },
  ];
  const containers = [{ name: 'c', image: 'i', resources: {}, volumeMounts }];
  const pod = podWith([config, { name: 'scratch', emptyDir: {} }], { containers });
  await expect(w.volumes.prepare(pod)).rejects.toThrow('leads through a link');
  expect(await readdir(outside)).toEqual([]);
});
