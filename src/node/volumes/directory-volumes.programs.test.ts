/** Volumes that are directories: emptyDir, hostPath, claims, NFS and images, on real directories and with real mounts. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { isRoot, it, podWith, VolumesWorld } from '../../../test/support/node/volumes-world.ts';
import { parseMountInfo } from './host/mount-table.ts';

const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;
const mounts = async () => parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
const mountAt = async (path: string) => (await mounts()).find(({ mountPoint }) => mountPoint === path);

describe('an emptyDir', () => {
  it('is an empty directory for everybody, kept as long as the pod', async ({ w }) => {
    const pod = podWith([{ name: 'scratch', emptyDir: {} }]);
    const path = w.path('empty-dir', 'scratch');
    expect((await w.volumes.prepare(pod)).get('scratch')).toEqual({
      type: 'directory',
      path,
      readOnly: false,
      selinuxRelabel: true,
    });
    expect(await modeOf(path)).toBe(0o777);
    await writeFile(join(path, 'x'), 'kept');
    await w.volumes.prepare(pod);
    await w.restarted().prepare(pod);
    expect(await readdir(path)).toEqual(['x']);
    expect((await w.volumes.usage('u-1')).volumes.get('scratch')).toBeGreaterThanOrEqual(512);
    await w.volumes.release('u-1');
    expect(await w.volumes.leftovers()).toEqual([]);
  });

  it.runIf(isRoot)('belongs to the group of the pod', async ({ w }) => {
    await w.volumes.prepare(podWith([{ name: 'scratch', emptyDir: {} }], { securityContext: { fsGroup: 77 } }));
    const path = w.path('empty-dir', 'scratch');
    expect((await stat(path)).gid).toBe(77);
    expect(await modeOf(path)).toBe(0o2777);
  });

  it('cannot be in memory without root', async () => {
    await using w = await VolumesWorld.create({ canMount: false });
    await expect(w.volumes.prepare(podWith([{ name: 'm', emptyDir: { medium: 'Memory' } }]))).rejects.toThrow(
      'MountVolume.SetUp failed for volume "m" : the agent cannot mount, because it does not run as root',
    );
  });

  it('knows no other medium', async ({ w }) => {
    await expect(w.volumes.prepare(podWith([{ name: 'm', emptyDir: { medium: 'Stone' } }]))).rejects.toThrow(
      'unknown storage medium "Stone"',
    );
    await expect(w.volumes.prepare(podWith([{ name: 'm', emptyDir: { medium: 'HugePages' } }]))).rejects.toThrow(
      'hugePages storage requested, but there is no resource request for huge pages',
    );
  });

  describe.runIf(isRoot)('in memory', () => {
    const pod = (emptyDir: object, spec: object = {}) =>
      podWith([{ name: 'm', emptyDir: { medium: 'Memory', ...emptyDir } }], spec);
    const sizeOf = (path: string) =>
      Number(execFileSync('df', ['-B1', '--output=size', path]).toString().split('\n')[1]);

    it('is a tmpfs of its size, once, and is gone with the pod', async ({ w }) => {
      await w.volumes.prepare(pod({ sizeLimit: '1Mi' }));
      const path = w.path('empty-dir', 'm');
      expect((await mountAt(path))?.type).toBe('tmpfs');
      expect(sizeOf(path)).toBe(1024 * 1024);
      expect(await modeOf(path)).toBe(0o1777);
      await writeFile(join(path, 'x'), 'kept');
      await w.restarted().prepare(pod({ sizeLimit: '1Mi' }));
      expect((await mounts()).filter(({ mountPoint }) => mountPoint === path)).toHaveLength(1);
      expect(await readdir(path)).toEqual(['x']);
      // A new agent that knows nothing of the pod removes it.
      await w.restarted().release('u-1');
      expect(await mountAt(path)).toBeUndefined();
      expect(await w.volumes.leftovers()).toEqual([]);
    });

    it("is limited by the memory of the pod's containers, and of the node", async () => {
      await using w = await VolumesWorld.create({ allocatable: () => ({ memory: '4Mi' }) });
      await w.volumes.prepare(pod({ sizeLimit: '1Gi' }));
      expect(sizeOf(w.path('empty-dir', 'm'))).toBe(4 * 1024 * 1024);
      await w.volumes.release('u-1');
      const containers = [1, 2].map((name) => ({ name: `c${name}`, resources: { limits: { memory: '1Mi' } } }));
      await w.volumes.prepare(pod({}, { containers }));
      expect(sizeOf(w.path('empty-dir', 'm'))).toBe(2 * 1024 * 1024);
    });
  });
});

describe('a hostPath', () => {
  const volume = (path: string, type = '') => podWith([{ name: 'h', hostPath: { path, type } }]);

  it('is the path itself, which is not looked at without a type', async ({ w }) => {
    expect((await w.volumes.prepare(volume('/does/not/exist'))).get('h')).toEqual({
      type: 'directory',
      path: '/does/not/exist',
      readOnly: false,
      selinuxRelabel: false,
    });
  });

  it('creates what may be created', async ({ w }) => {
    await w.volumes.prepare(volume(w.elsewhere('a/b'), 'DirectoryOrCreate'));
    expect(await modeOf(w.elsewhere('a/b'))).toBe(0o755);
    await w.volumes.prepare(volume(w.elsewhere('a/file'), 'FileOrCreate'));
    expect(await modeOf(w.elsewhere('a/file'))).toBe(0o644);
    // A second time, it is there.
    await w.volumes.prepare(volume(w.elsewhere('a/b'), 'DirectoryOrCreate'));
    await w.volumes.prepare(volume(w.elsewhere('a/file'), 'FileOrCreate'));
  });

  it.each([
    ['directory', 'File', "hostPath type check failed: PATH is not a file, it's a Directory"],
    ['directory', 'FileOrCreate', "hostPath type check failed: PATH is not a file, it's a Directory"],
    ['directory', 'Socket', "hostPath type check failed: PATH is not a socket file, it's a Directory"],
    ['file', 'Directory', "hostPath type check failed: PATH is not a directory, it's a File"],
    ['file', 'DirectoryOrCreate', "hostPath type check failed: PATH is not a directory, it's a File"],
    ['file', 'BlockDevice', "hostPath type check failed: PATH is not a block device, it's a File"],
    ['socket', 'CharDevice', "hostPath type check failed: PATH is not a character device, it's a Socket"],
    [
      'none',
      'Directory',
      'hostPath type check failed, PATH is not a directory, unable to determine its type: path "PATH" does not exist',
    ],
    [
      'none',
      'Socket',
      'hostPath type check failed, PATH is not a socket file, unable to determine its type: path "PATH" does not exist',
    ],
    ['directory', 'Castle', 'Castle is an invalid volume type'],
  ])('with a %s rejects the type %s', async (name, type, message) => {
    await using w = await VolumesWorld.create();
    await mkdir(w.elsewhere('directory'), { recursive: true });
    await writeFile(w.elsewhere('file'), '');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(w.elsewhere('socket'), resolve));
    const path = w.elsewhere(name);
    try {
      await expect(w.volumes.prepare(volume(path, type))).rejects.toMatchObject({
        message: `MountVolume.SetUp failed for volume "h" : ${message.replaceAll('PATH', path)}`,
      });
      for (const [right, it] of [
        ['directory', 'Directory'],
        ['file', 'File'],
        ['socket', 'Socket'],
      ] as const) {
        await w.volumes.prepare(volume(w.elsewhere(right), it));
      }
      await w.volumes.prepare(volume('/dev/null', 'CharDevice'));
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('does not lead upwards', async ({ w }) => {
    await expect(w.volumes.prepare(volume('/a/../b'))).rejects.toThrow(
      "invalid HostPath `/a/../b`: must not contain '..'",
    );
  });

  it('is left alone when the pod ends', async ({ w }) => {
    await mkdir(w.elsewhere('d'), { recursive: true });
    await writeFile(join(w.elsewhere('d'), 'x'), 'kept');
    await w.volumes.prepare(volume(w.elsewhere('d'), 'Directory'));
    await w.volumes.release('u-1');
    expect(await readdir(w.elsewhere('d'))).toEqual(['x']);
  });
});

describe('a claim', () => {
  const pod = (parts: object = {}, spec: object = {}) =>
    podWith([{ name: 'data', persistentVolumeClaim: { claimName: 'mine', ...parts } }], spec);
  const claim = (parts: object = {}) => ({
    metadata: { name: 'mine', uid: 'claim-1' },
    spec: { volumeName: 'pv-1' },
    status: { phase: 'Bound' },
    ...parts,
  });
  const persistent = (spec: object, metadata: object = {}) => ({
    metadata: { name: 'pv-1', ...metadata },
    spec: { claimRef: { uid: 'claim-1' }, ...spec },
    status: {},
  });

  async function world(volume: (w: VolumesWorld) => object) {
    const w = await VolumesWorld.create();
    w.claims.set('shop/mine', claim());
    w.persistentVolumes.set('pv-1', volume(w));
    return w;
  }

  it('of a hostPath volume is that path', async () => {
    await using w = await world((it) =>
      persistent({ hostPath: { path: it.elsewhere('h'), type: 'DirectoryOrCreate' } }),
    );
    expect((await w.volumes.prepare(pod())).get('data')).toMatchObject({ path: w.elsewhere('h'), readOnly: false });
    expect((await w.volumes.prepare(pod({ readOnly: true }))).get('data')).toMatchObject({ readOnly: true });
  });

  it('of a local volume must exist', async () => {
    await using w = await world((it) => persistent({ local: { path: it.elsewhere('l') } }));
    await expect(w.volumes.prepare(pod())).rejects.toThrow(
      `MountVolume.SetUp failed for volume "data" : path "${w.elsewhere('l')}" does not exist`,
    );
    await mkdir(w.elsewhere('l'), { recursive: true });
    expect((await w.volumes.prepare(pod())).get('data')).toMatchObject({ path: w.elsewhere('l') });
  });

  it.runIf(isRoot)('of a local volume gives its files to the group of the pod, as its policy says', async () => {
    await using w = await world((it) => persistent({ local: { path: it.elsewhere('l') } }));
    await mkdir(w.elsewhere('l/sub'), { recursive: true });
    await writeFile(w.elsewhere('l/sub/file'), '', { mode: 0o600 });
    await w.volumes.prepare(pod({}, { securityContext: { fsGroup: 88 } }));
    expect([(await stat(w.elsewhere('l/sub/file'))).gid, await modeOf(w.elsewhere('l/sub/file'))]).toEqual([88, 0o660]);
    expect([(await stat(w.elsewhere('l/sub'))).gid, (await modeOf(w.elsewhere('l/sub'))) & 0o2070]).toEqual([
      88, 0o2070,
    ]);
    // With OnRootMismatch nothing is changed when the root is right.
    await writeFile(w.elsewhere('l/new'), '', { mode: 0o600 });
    const securityContext = { fsGroup: 88, fsGroupChangePolicy: 'OnRootMismatch' };
    await w.volumes.prepare(pod({}, { securityContext }));
    expect(await modeOf(w.elsewhere('l/new'))).toBe(0o600);
    await w.volumes.prepare(pod({}, { securityContext: { fsGroup: 88, fsGroupChangePolicy: 'Always' } }));
    expect(await modeOf(w.elsewhere('l/new'))).toBe(0o660);
  });

  it('of a directory that was provisioned on this node creates it', async () => {
    const provisioned = (node: string) => (it: VolumesWorld) =>
      persistent(
        { local: { path: it.elsewhere('pv-1') } },
        {
          labels: { 'volume.kubernetes.io/node': node },
          annotations: { 'pv.kubernetes.io/provisioned-by': 'quarterdeck.io/node-directory' },
        },
      );
    await using w = await world(provisioned('node-1'));
    expect((await w.volumes.prepare(pod())).get('data')).toMatchObject({ path: w.elsewhere('pv-1') });
    expect(await modeOf(w.elsewhere('pv-1'))).toBe(0o777);
    await w.volumes.release('u-1');
    expect(await readdir(w.elsewhere('pv-1'))).toEqual([]);

    await using other = await world(provisioned('node-2'));
    await expect(other.volumes.prepare(pod())).rejects.toThrow('volume "pv-1" is a directory of the node node-2');
  });

  const failed =
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ';
  it.each([
    [
      undefined,
      'error processing PVC shop/mine: failed to fetch PVC from API server: persistentvolumeclaims "mine" not found',
    ],
    [claim({ status: { phase: 'Pending' } }), 'error processing PVC shop/mine: PVC is not bound'],
    [
      claim({ spec: { volumeName: 'none' } }),
      'error processing PVC shop/mine: failed to fetch PV "none" from API server: persistentvolumes "none" not found',
    ],
    [
      claim({ metadata: { name: 'mine', uid: 'other' } }),
      'error processing PVC shop/mine: PV "pv-1" is bound to another claim',
    ],
  ])('is rejected while it is %j', async (object, message) => {
    await using w = await world(() => persistent({ hostPath: { path: '/x' } }));
    if (object) w.claims.set('shop/mine', object);
    else w.claims.clear();
    await expect(w.volumes.prepare(pod())).rejects.toMatchObject({ message: failed + message });
  });

  it('of a kind that is not known is rejected', async () => {
    await using w = await world(() => persistent({ rbd: {} }));
    await expect(w.volumes.prepare(pod())).rejects.toThrow('no volume plugin matched');
  });

  it('that is made for the pod must belong to it', async () => {
    await using w = await world((it) => persistent({ hostPath: { path: it.elsewhere('e') } }));
    const ephemeral = podWith([{ name: 'data', ephemeral: { volumeClaimTemplate: {} } }]);
    const owned = (uid: string) =>
      claim({ metadata: { name: 'web-data', uid: 'claim-1', ownerReferences: [{ uid, controller: true }] } });
    w.claims.set('shop/web-data', owned('stranger'));
    await expect(w.volumes.prepare(ephemeral)).rejects.toThrow(
      `${failed}PVC shop/web-data was not created for pod shop/web (pod is not owner)`,
    );
    w.claims.set('shop/web-data', owned('u-1'));
    expect((await w.volumes.prepare(ephemeral)).get('data')).toMatchObject({ path: w.elsewhere('e') });
  });
});

it('mounts NFS with the program of the node, and reports what it says', async () => {
  await using w = await VolumesWorld.create({ canMount: false });
  const pod = podWith([{ name: 'n', nfs: { server: '127.0.0.1', path: '/x' } }]);
  await expect(w.volumes.prepare(pod)).rejects.toThrow(
    'MountVolume.SetUp failed for volume "n" : the agent cannot mount',
  );
  if (!isRoot) return;
  await expect(w.restarted({ canMount: true }).prepare(pod)).rejects.toThrow(
    /^MountVolume.SetUp failed for volume "n" : mount failed: /,
  );
  await w.volumes.release('u-1');
  expect(await w.volumes.leftovers()).toEqual([]);
});

it('pulls images', async ({ w }) => {
  const pod = podWith([{ name: 'i', image: { reference: 'busybox:1', pullPolicy: 'IfNotPresent' } }]);
  expect((await w.volumes.prepare(pod)).get('i')).toEqual({ type: 'image', imageId: 'id of busybox:1 (IfNotPresent)' });
});

it('rejects kinds that it does not know', async ({ w }) => {
  await expect(w.volumes.prepare(podWith([{ name: 'x', rbd: { image: 'y' } }]))).rejects.toThrow(
    'MountVolume.SetUp failed for volume "x" : no volume plugin matched: volumes of type rbd are not supported',
  );
});

describe('release', () => {
  it('does nothing for a pod that has nothing', async ({ w }) => {
    await w.volumes.release('nobody');
    expect(await w.volumes.leftovers()).toEqual([]);
  });

  it('does not follow links out of a volume', async ({ w }) => {
    await w.volumes.prepare(podWith([{ name: 'scratch', emptyDir: {} }]));
    await mkdir(w.elsewhere('precious'), { recursive: true });
    await writeFile(w.elsewhere('precious/x'), '');
    await symlink(w.elsewhere('precious'), join(w.path('empty-dir', 'scratch'), 'link'));
    await w.volumes.release('u-1');
    expect(await readdir(w.elsewhere('precious'))).toEqual(['x']);
  });

  it.each(['..', 'a/b', ''])('accepts no pod named %j', async (uid) => {
    await using w = await VolumesWorld.create();
    await writeFile(join(w.root, 'x'), '');
    await expect(w.volumes.release(uid)).rejects.toThrow('cannot be the name of a directory');
    expect(await readdir(w.root)).toEqual(['x']);
  });

  it.runIf(isRoot)(
    'unmounts what a crash left mounted, whatever its kind, before it removes anything',
    async ({ w }) => {
      await mkdir(w.elsewhere('data'), { recursive: true });
      await writeFile(w.elsewhere('data/x'), '');
      const target = w.path('nfs', 'left');
      await mkdir(target, { recursive: true });
      execFileSync('mount', ['--bind', w.elsewhere('data'), target]);
      await w.volumes.release('u-1');
      expect(await mountAt(target)).toBeUndefined();
      expect(await readdir(w.elsewhere('data'))).toEqual(['x']);
      expect(await w.volumes.leftovers()).toEqual([]);
    },
  );
});

describe('the ids of user namespaces', () => {
  const pod = (uid: string, spec: object = { hostUsers: false }) => podWith([], spec, { uid });
  const range = (hostId: number) => [{ hostId, containerId: 0, length: 65_536 }];

  it('are a range for each pod that wants one, also when they start together', async ({ w }) => {
    expect(await w.volumes.idMappings(pod('u-0', {}))).toBeUndefined();
    const all = await Promise.all(['u-1', 'u-2', 'u-3'].map((uid) => w.volumes.idMappings(pod(uid))));
    const first = all[0]![0]!.hostId;
    expect(all).toEqual([range(first), range(first + 65_536), range(first + 131_072)]);
    expect(first % 65_536).toBe(0);
  });

  it('are those of no ordinary user, and differ between the nodes of a machine', async () => {
    await using a = await VolumesWorld.create();
    await using b = await VolumesWorld.create();
    const ranges = await Promise.all([a, b].map((w) => w.volumes.idMappings(pod('u-1'))));
    const ids = ranges.map((range) => range?.[0]?.hostId ?? 0) as [number, number];
    expect(ids[0]).not.toBe(ids[1]);
    for (const id of ids) {
      expect(id).toBeGreaterThan(600_100_000);
      expect(id + 65_536).toBeLessThanOrEqual(0x6fff0000);
    }
  });

  it('stay with a pod until it is released, also after a restart of the agent', async ({ w }) => {
    const first = await w.volumes.idMappings(pod('u-1'));
    const second = await w.volumes.idMappings(pod('u-2'));
    expect(second).not.toEqual(first);
    expect(await w.restarted().idMappings(pod('u-2'))).toEqual(second);
    await w.volumes.release('u-1');
    expect(await w.volumes.idMappings(pod('u-3'))).toEqual(first);
  });
});
