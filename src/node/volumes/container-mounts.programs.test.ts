/** Tests the mounts of containers: whole volumes, parts of them, the hosts file and the termination message. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { seenContainer, seenPod } from '../../../test/support/node/seen-pod.ts';
import { isRoot, it, VolumesWorld } from '../../../test/support/node/volumes-world.ts';
import { parseMountInfo } from './host/mount-table.ts';
import type { MountRequest } from './volumes.ts';

const request = (parts: Partial<MountRequest> = {}): MountRequest => ({
  attempt: 0,
  env: [{ name: 'POD', value: 'web-0' }],
  hosts: undefined,
  idMappings: undefined,
  supportsRecursiveReadOnly: true,
  ...parts,
});

const volumes = [{ name: 'v', emptyDir: {} }];

async function mountOf(w: VolumesWorld, mount: object, parts: Partial<MountRequest> = {}, list: object[] = volumes) {
  const container = seenContainer({ volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] });
  const { mounts } = await w.volumes.mounts(seenPod({ volumes: list }), container, request(parts));
  return mounts[0]!;
}

describe('a mount', () => {
  it('has the options of its volumeMount', async ({ w }) => {
    const path = w.path('empty-dir', 'v');
    const plain = {
      hostPath: path,
      containerPath: '/v',
      readOnly: false,
      recursiveReadOnly: false,
      propagation: 'private',
      selinuxRelabel: true,
      idMappings: undefined,
      image: undefined,
    };
    expect(await mountOf(w, {})).toEqual(plain);
    expect(await mountOf(w, { mountPath: 'relative' })).toEqual({ ...plain, containerPath: '/relative' });
    expect(await mountOf(w, { readOnly: true, mountPropagation: 'None' })).toEqual({ ...plain, readOnly: true });
    expect(await mountOf(w, { mountPropagation: 'HostToContainer' })).toEqual({
      ...plain,
      propagation: 'host-to-container',
    });
    expect(await mountOf(w, { mountPropagation: 'Bidirectional' })).toEqual({ ...plain, propagation: 'bidirectional' });
    const ids = [{ hostId: 1, containerId: 0, length: 2 }];
    expect(await mountOf(w, {}, { idMappings: ids })).toEqual({ ...plain, idMappings: { uids: ids, gids: ids } });
  });

  it('is read-only for volumes that are', async ({ w }) => {
    expect(await mountOf(w, {}, {}, [{ name: 'v', configMap: { name: 'c', optional: true } }])).toMatchObject({
      readOnly: true,
    });
  });

  it('is recursively read-only where the runtime can', async ({ w }) => {
    const recursive = (mode: string, supportsRecursiveReadOnly: boolean) =>
      mountOf(w, { readOnly: true, recursiveReadOnly: mode }, { supportsRecursiveReadOnly });
    expect(await recursive('Enabled', true)).toMatchObject({ recursiveReadOnly: true });
    expect(await recursive('IfPossible', true)).toMatchObject({ recursiveReadOnly: true });
    expect(await recursive('IfPossible', false)).toMatchObject({ recursiveReadOnly: false });
    expect(await recursive('Disabled', true)).toMatchObject({ recursiveReadOnly: false });
    await expect(recursive('Enabled', false)).rejects.toThrow(
      'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode at "/v", but it is not supported by the runtime',
    );
  });

  it('of an image names the image and the part of it', async ({ w }) => {
    const list = [{ name: 'v', image: { reference: 'r', pullPolicy: 'Never' } }];
    expect(await mountOf(w, { subPath: 'a/b' }, {}, list)).toMatchObject({
      hostPath: '',
      readOnly: true,
      image: { id: 'id of r (Never)', subPath: 'a/b' },
    });
  });

  it('needs its volume', async ({ w }) => {
    await expect(mountOf(w, { name: 'other' })).rejects.toThrow(
      'cannot find volume "other" to mount into container "c"',
    );
  });

  it('of a block device is a device', async ({ w }) => {
    w.claims.set('shop/b', { metadata: { uid: 'c' }, spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
    w.persistentVolumes.set('pv', {
      metadata: { name: 'pv' },
      spec: { volumeMode: 'Block', local: { path: '/dev/null' } },
      status: {},
    });
    const pod = seenPod({ volumes: [{ name: 'b', persistentVolumeClaim: { claimName: 'b' } }] });
    const container = seenContainer({ volumeDevices: [{ name: 'b', devicePath: '/dev/xvda' }] });
    expect((await w.volumes.mounts(pod, container, request())).devices).toEqual([
      { hostPath: '/dev/null', containerPath: '/dev/xvda', permissions: 'mrw' },
    ]);
  });
});

it('the files of the agent are the hosts file and the file for the termination message', async ({ w }) => {
  const container = seenContainer({ terminationMessagePath: '/dev/termination-log' });
  const { mounts } = await w.volumes.mounts(seenPod(), container, request({ hosts: '127.0.0.1 x\n', attempt: 3 }));
  expect(mounts.map(({ hostPath, containerPath, readOnly }) => [hostPath, containerPath, readOnly])).toEqual([
    [join(w.root, 'pods/u-1/etc-hosts'), '/etc/hosts', false],
    [join(w.root, 'pods/u-1/containers/c/3'), '/dev/termination-log', false],
  ]);
  expect(await readFile(mounts[0]!.hostPath, 'utf8')).toBe('127.0.0.1 x\n');
  const file = w.volumes.terminationMessageFile('u-1', 'c', 3);
  expect(file).toBe(mounts[1]!.hostPath);
  expect((await stat(file)).mode & 0o777).toBe(0o666);
  // The next attempt does not find the message of the one before.
  await writeFile(file, 'bye');
  await w.volumes.mounts(seenPod(), container, request({ attempt: 3 }));
  expect(await readFile(file, 'utf8')).toBe('');
});

it('the files of the agent leave a hosts file that the container mounts itself', async ({ w }) => {
  const container = seenContainer({ volumeMounts: [{ name: 'v', mountPath: '/etc/hosts' }] });
  const { mounts } = await w.volumes.mounts(seenPod({ volumes }), container, request({ hosts: 'x' }));
  expect(mounts.map(({ hostPath }) => hostPath)).toEqual([w.path('empty-dir', 'v')]);
});

it('reading a file of a volume is possible inside of it only', async ({ w }) => {
  const pod = seenPod({ volumes });
  await w.volumes.prepare(pod);
  const path = w.path('empty-dir', 'v');
  await mkdir(join(path, 'dir'));
  await writeFile(join(path, 'dir/vars'), "A='1'");
  await mkdir(w.elsewhere('.'), { recursive: true });
  await writeFile(w.elsewhere('secret'), 'secret');
  await symlink(w.elsewhere('secret'), join(path, 'out'));
  await symlink('dir/vars', join(path, 'in'));
  const read = (file: string) => w.volumes.readFile(pod, { volumeName: 'v', path: file });
  expect(await read('dir/vars')).toBe("A='1'");
  expect(await read('in')).toBe("A='1'");
  expect(await read('out')).toBeUndefined();
  expect(await read('../../../../../elsewhere/secret')).toBeUndefined();
  expect(await read('dir')).toBeUndefined();
  expect(await read('none')).toBeUndefined();
  await writeFile(join(path, 'large'), '');
  await truncate(join(path, 'large'), 2 ** 30);
  await expect(read('large')).rejects.toThrow('is larger than 1048576 bytes');
  expect(await w.volumes.readFile(pod, { volumeName: 'none', path: 'x' })).toBeUndefined();
});

describe.each(isRoot ? [true, false] : [false])('a subPath, with the right to mount: %s', (canMount) => {
  async function world(options: Parameters<typeof VolumesWorld.create>[0] = {}) {
    const w = await VolumesWorld.create({ canMount, ...options });
    await w.volumes.prepare(seenPod({ volumes }));
    await mkdir(w.elsewhere('.'), { recursive: true });
    await writeFile(w.elsewhere('secret'), 'secret');
    return w;
  }

  it('is created when it is missing, with the mode of the volume', async () => {
    await using w = await world();
    const { hostPath } = await mountOf(w, { subPath: 'a/b' });
    const made = join(w.path('empty-dir', 'v'), 'a/b');
    expect(hostPath).toBe(canMount ? join(w.root, 'pods/u-1/volume-subpaths/v/c/0') : made);
    expect((await stat(made)).mode & 0o777).toBe(0o777);
    await writeFile(join(made, 'x'), '');
    expect(await readdir(hostPath)).toEqual(['x']);
  });

  it.runIf(isRoot)('belongs to the group of the volume when it is created', async () => {
    await using w = await world();
    const pod = seenPod({ volumes, securityContext: { fsGroup: 66 } }, { uid: 'u-2' });
    const container = seenContainer({ volumeMounts: [{ name: 'v', mountPath: '/f', subPath: 'a/b' }] });
    const { mounts } = await w.volumes.mounts(pod, container, request());
    const { gid, mode } = await stat(mounts[0]!.hostPath);
    expect([gid, mode & 0o7777]).toEqual([66, 0o2777]);
  });

  it.runIf(isRoot)('belongs to the group of the volume in a user namespace, too', async () => {
    await using w = await world({ userNamespaceOf: () => 'mapped-owners' as const });
    const pod = seenPod({ volumes, securityContext: { fsGroup: 66 } }, { uid: 'u-3' });
    const container = seenContainer({ volumeMounts: [{ name: 'v', mountPath: '/f', subPath: 'a/b' }] });
    const { mounts } = await w.volumes.mounts(pod, container, request());
    const base = (await w.volumes.idMappings(pod))![0]!.hostId;
    const { uid, gid } = await stat(mounts[0]!.hostPath);
    expect([uid, gid]).toEqual([base, base + 66]);
  });

  it('can be a file, also behind the links of a ConfigMap', async () => {
    await using w = await world();
    w.configMaps.set('shop/c', { data: { key: 'value' } });
    const list = [{ name: 'v', configMap: { name: 'c' } }];
    const pod = seenPod({ volumes: list }, { uid: 'u-2' });
    const container = seenContainer({ volumeMounts: [{ name: 'v', mountPath: '/f', subPath: 'key' }] });
    const { mounts } = await w.volumes.mounts(pod, container, request());
    expect(await readFile(mounts[0]!.hostPath, 'utf8')).toBe('value');
  });

  it('expands variables', async () => {
    await using w = await world();
    await mountOf(w, { subPathExpr: 'logs/$(POD)' });
    expect(await readdir(join(w.path('empty-dir', 'v'), 'logs'))).toEqual(['web-0']);
    await expect(mountOf(w, { subPathExpr: '$(NONE)/$(EMPTY)' })).rejects.toThrow('missing value for EMPTY, NONE');
  });

  it.each([
    [{ subPath: '/etc' }, 'error SubPath `/etc` must not be an absolute path'],
    [{ subPath: 'a\0b' }, 'unable to provision SubPath `a\\0b`: must not contain a zero byte'],
    [{ subPathExpr: '$(ZERO)' }, 'unable to provision SubPath `x\\0y`: must not contain a zero byte'],
    [{ subPath: 'a/../../b' }, "unable to provision SubPath `a/../../b`: must not contain '..'"],
    [{ subPathExpr: '$(UP)' }, "unable to provision SubPath `../x`: must not contain '..'"],
  ])('rejects %j', async (mount, message) => {
    await using w = await world();
    const env = [
      { name: 'UP', value: '../x' },
      { name: 'ZERO', value: 'x\0y' },
    ];
    await expect(mountOf(w, mount, { env })).rejects.toThrow(message);
  });

  it.each(['link', 'link/below', 'relative', 'loop'])(
    'does not follow the link in %s out of the volume',
    async (subPath) => {
      await using w = await world();
      const path = w.path('empty-dir', 'v');
      await symlink(w.elsewhere('.'), join(path, 'link'));
      await symlink('../../../../../elsewhere', join(path, 'relative'));
      await symlink('loop', join(path, 'loop'));
      await expect(mountOf(w, { subPath })).rejects.toThrow(
        /^failed to (prepare subPath|create subPath directory) for volumeMount "v" of container "c"$/,
      );
      expect(await readdir(w.elsewhere('.'))).toEqual(['secret']);
    },
  );

  it('follows links inside the volume', async () => {
    await using w = await world();
    const path = w.path('empty-dir', 'v');
    await mkdir(join(path, 'real'));
    await writeFile(join(path, 'real/x'), '');
    await symlink('real', join(path, 'link'));
    const { hostPath } = await mountOf(w, { subPath: 'link' });
    expect(await readdir(hostPath)).toEqual(['x']);
  });

  it('does not create a directory behind a link that leads nowhere', async () => {
    await using w = await world();
    await symlink(w.elsewhere('new'), join(w.path('empty-dir', 'v'), 'dangling'));
    await expect(mountOf(w, { subPath: 'dangling' })).rejects.toThrow(
      'failed to prepare subPath for volumeMount "v" of container "c"',
    );
    expect(await readdir(w.elsewhere('.'))).toEqual(['secret']);
  });

  if (!canMount) return;

  it('stays what was opened, when a container exchanges it for a link', async () => {
    await using w = await world();
    const path = w.path('empty-dir', 'v');
    const { hostPath } = await mountOf(w, { subPath: 'dir' });
    await rename(join(path, 'dir'), join(path, 'moved'));
    await symlink(w.elsewhere('.'), join(path, 'dir'));
    await writeFile(join(hostPath, 'y'), '');
    expect(await readdir(join(path, 'moved'))).toEqual(['y']);
    expect(await readdir(w.elsewhere('.'))).toEqual(['secret']);
  });

  it('is mounted once, anew when it has become another, and unmounted with the pod', async () => {
    await using w = await world();
    const path = w.path('empty-dir', 'v');
    const { hostPath } = await mountOf(w, { subPath: 'dir' });
    await mountOf(w, { subPath: 'dir' });
    const count = async () =>
      parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8')).filter((entry) => entry.mountPoint === hostPath)
        .length;
    expect(await count()).toBe(1);
    await rm(join(path, 'dir'), { recursive: true });
    await writeFile(join(path, 'dir'), 'now a file');
    await mountOf(w, { subPath: 'dir' });
    expect(await count()).toBe(1);
    expect(await readFile(hostPath, 'utf8')).toBe('now a file');
    await w.restarted().release('u-1');
    expect(await count()).toBe(0);
    expect(await w.volumes.leftovers()).toEqual([]);
  });

  it('is unmounted even while another mount namespace uses it', async () => {
    await using w = await world();
    const { hostPath } = await mountOf(w, { subPath: 'dir' });
    const user = spawn('unshare', ['-m', 'sh', '-c', `cd ${hostPath} && echo ready && cat`]);
    try {
      await once(user.stdout, 'data');
      await w.volumes.release('u-1');
      expect(await w.volumes.leftovers()).toEqual([]);
    } finally {
      user.stdin.end();
      await once(user, 'exit');
    }
  });
});
