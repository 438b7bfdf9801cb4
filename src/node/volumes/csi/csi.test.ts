/** Volumes of a CSI driver, over real sockets, and with real mounts where they can be made. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CsiDriver } from '../../../../test/support/node/csi-driver.ts';
import { isRoot, podWith, VolumesWorld } from '../../../../test/support/node/volumes-world.ts';

const DRIVER = 'disk.example.com';

async function withDriver(w: VolumesWorld, stages: boolean): Promise<CsiDriver> {
  const data = w.elsewhere('data');
  await mkdir(data, { recursive: true });
  await writeFile(join(data, 'x'), 'from the driver');
  const registry = join(w.root, 'plugins_registry');
  return CsiDriver.start({ name: DRIVER, registry, data, stages, canMount: isRoot });
}

describe('an inline volume', () => {
  const csi = {
    driver: DRIVER,
    readOnly: true,
    fsType: 'ext4',
    volumeAttributes: { size: '1' },
    nodePublishSecretRef: { name: 'key' },
  };
  const pod = podWith([{ name: 'v', csi }]);
  const handle = `csi-${createHash('sha256').update('u-1v').digest('hex')}`;

  it('is published for the pod, and unpublished by what was written beside it', async () => {
    await using w = await VolumesWorld.create();
    await using driver = await withDriver(w, true);
    w.secrets.set('shop/key', { data: { user: Buffer.from('me').toString('base64') } });
    w.csiDrivers.set(DRIVER, { spec: { podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] } });
    const targetPath = join(w.path('csi', 'v'), 'mount');
    expect((await w.volumes.prepare(pod)).get('v')).toEqual({
      type: 'directory',
      path: targetPath,
      readOnly: true,
      selinuxRelabel: false,
    });
    if (isRoot) expect(await readFile(join(targetPath, 'x'), 'utf8')).toBe('from the driver');
    expect(driver.calls.map(({ method }) => method)).toEqual([
      'GetInfo',
      'NotifyRegistrationStatus',
      'NodePublishVolume',
    ]);
    expect(driver.calls[1]?.request).toMatchObject({ pluginRegistered: true });
    expect(driver.calls[2]?.request).toEqual({
      volumeId: handle,
      targetPath,
      volumeCapability: { mount: { fsType: 'ext4' }, accessMode: { mode: 1 } },
      readonly: true,
      secrets: { user: 'me' },
      volumeContext: {
        size: '1',
        'csi.storage.k8s.io/pod.name': 'web',
        'csi.storage.k8s.io/pod.namespace': 'shop',
        'csi.storage.k8s.io/pod.uid': 'u-1',
        'csi.storage.k8s.io/serviceAccount.name': 'robot',
        'csi.storage.k8s.io/ephemeral': 'true',
      },
    });
    await w.restarted().release('u-1');
    expect(driver.nodeCalls.at(-1)).toEqual({
      method: 'NodeUnpublishVolume',
      request: { volumeId: handle, targetPath },
    });
    expect(await w.volumes.leftovers()).toEqual([]);
    expect(await readdir(w.elsewhere('data'))).toEqual(['x']);
  });

  it('must be supported by the driver', async () => {
    await using w = await VolumesWorld.create();
    await using _driver = await withDriver(w, false);
    w.csiDrivers.set(DRIVER, { spec: { volumeLifecycleModes: ['Persistent'] } });
    await expect(w.volumes.prepare(pod)).rejects.toThrow(
      `MountVolume.SetUp failed for volume "v" : kubernetes.io/csi: mounter.SetUpAt failed: volume mode "Ephemeral" not supported by driver ${DRIVER} (only supports ["Persistent"])`,
    );
  });

  it('needs a driver', async () => {
    await using w = await VolumesWorld.create();
    w.secrets.set('shop/key', { data: {} });
    await expect(w.volumes.prepare(pod)).rejects.toThrow(
      `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${DRIVER} not found in the list of registered CSI drivers`,
    );
    // Nothing was mounted, so that the pod can go.
    await w.volumes.release('u-1');
    expect(await w.volumes.leftovers()).toEqual([]);
  });

  it.runIf(isRoot)('stays while it is mounted and its driver is gone', async () => {
    await using w = await VolumesWorld.create();
    w.secrets.set('shop/key', { data: {} });
    {
      await using _driver = await withDriver(w, false);
      await w.volumes.prepare(pod);
    }
    await expect(w.restarted().release('u-1')).rejects.toThrow('not found in the list of registered CSI drivers');
    expect(await w.volumes.leftovers()).toEqual(['u-1']);
    await using _driver = await withDriver(w, false);
    await w.restarted().release('u-1');
  });

  it('fails as the driver says', async () => {
    await using w = await VolumesWorld.create();
    await using driver = await withDriver(w, false);
    w.secrets.set('shop/key', { data: {} });
    driver.failures.set('NodePublishVolume', { code: 3, message: 'no such size' });
    await expect(w.volumes.prepare(pod)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "v" : rpc error: code = InvalidArgument desc = no such size',
    );
    driver.failures.clear();
    await w.volumes.prepare(pod);
    await w.volumes.release('u-1');
  });

  it('stays when the driver cannot unpublish it', async () => {
    await using w = await VolumesWorld.create();
    await using driver = await withDriver(w, false);
    w.secrets.set('shop/key', { data: {} });
    await w.volumes.prepare(pod);
    driver.failures.set('NodeUnpublishVolume', { code: 13, message: 'busy' });
    await expect(w.volumes.release('u-1')).rejects.toThrow('rpc error: code = Internal desc = busy');
    expect(await w.volumes.leftovers()).toEqual(['u-1']);
    driver.failures.clear();
    await w.volumes.release('u-1');
    expect(await w.volumes.leftovers()).toEqual([]);
  });
});

describe('a persistent volume', () => {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'mine' } }];

  async function world() {
    const w = await VolumesWorld.create();
    w.claims.set('shop/mine', { metadata: { uid: 'c' }, spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } });
    w.persistentVolumes.set('pv-1', {
      metadata: { name: 'pv-1' },
      spec: {
        accessModes: ['ReadWriteMany'],
        mountOptions: ['noatime', 'ro'],
        csi: {
          driver: DRIVER,
          volumeHandle: 'disk-7',
          volumeAttributes: { a: 'b' },
          nodeStageSecretRef: { name: 's', namespace: 'sys' },
        },
      },
      status: {},
    });
    w.secrets.set('sys/s', { data: { k: Buffer.from('v').toString('base64') } });
    return w;
  }

  it('is staged once for all pods, and unstaged with the last', async () => {
    await using w = await world();
    await using driver = await withDriver(w, true);
    const staging = join(
      w.root,
      'plugins/kubernetes.io/csi',
      DRIVER,
      createHash('sha256').update('disk-7').digest('hex'),
    );
    const stagingTargetPath = join(staging, 'globalmount');
    await w.volumes.prepare(podWith(volumes));
    const volumeCapability = { mount: { mountFlags: ['noatime', 'ro'] }, accessMode: { mode: 5 } };
    expect(driver.nodeCalls).toEqual([
      {
        method: 'NodeStageVolume',
        request: {
          volumeId: 'disk-7',
          stagingTargetPath,
          volumeCapability,
          secrets: { k: 'v' },
          volumeContext: { a: 'b' },
        },
      },
      {
        method: 'NodePublishVolume',
        request: {
          volumeId: 'disk-7',
          stagingTargetPath,
          targetPath: join(w.path('csi', 'pv-1'), 'mount'),
          volumeCapability,
          volumeContext: { a: 'b' },
        },
      },
    ]);
    await w.volumes.prepare(podWith(volumes, {}, { uid: 'u-2' }));
    await w.volumes.release('u-1');
    expect(driver.nodeCalls.at(-1)?.method).toBe('NodeUnpublishVolume');
    expect((await stat(stagingTargetPath)).isDirectory()).toBe(true);
    await w.volumes.release('u-2');
    expect(driver.nodeCalls.at(-1)).toEqual({
      method: 'NodeUnstageVolume',
      request: { volumeId: 'disk-7', stagingTargetPath },
    });
    await expect(stat(staging)).rejects.toThrow('ENOENT');
  });

  it('is not staged by a driver that does not stage', async () => {
    await using w = await world();
    await using driver = await withDriver(w, false);
    await w.volumes.prepare(podWith(volumes));
    expect(driver.nodeCalls.map(({ method }) => method)).toEqual(['NodePublishVolume']);
    await w.volumes.release('u-1');
    expect(driver.nodeCalls.map(({ method }) => method)).toEqual(['NodePublishVolume', 'NodeUnpublishVolume']);
  });

  it.runIf(isRoot)('belongs to the group of the pod if the driver leaves that to the agent', async () => {
    await using w = await world();
    await using _driver = await withDriver(w, false);
    const pod = podWith(volumes, { securityContext: { fsGroup: 55 } });
    await w.volumes.prepare(pod);
    expect((await stat(w.elsewhere('data/x'))).gid).not.toBe(55);
    await w.volumes.release('u-1');
    w.csiDrivers.set(DRIVER, { spec: { fsGroupPolicy: 'File' } });
    await w.volumes.prepare(pod);
    expect((await stat(w.elsewhere('data/x'))).gid).toBe(55);
    await w.volumes.release('u-1');
  });
});
