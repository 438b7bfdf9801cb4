/** Volumes of a CSI driver, over real sockets, and with real mounts where they can be made. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { CsiDriver } from '../../../../test/support/node/csi-driver.ts';
import { isRoot, it, podWith, VolumesWorld } from '../../../../test/support/node/volumes-world.ts';

const DRIVER = 'disk.example.com';

async function withDriver(w: VolumesWorld, stages: boolean, capabilities: readonly number[] = []): Promise<CsiDriver> {
  const data = w.elsewhere('data');
  await mkdir(data, { recursive: true });
  await writeFile(join(data, 'x'), 'from the driver');
  const registry = join(w.root, 'plugins_registry');
  return CsiDriver.start({ name: DRIVER, registry, data, stages, capabilities, canMount: isRoot });
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

  it('is published for the pod, and unpublished by what was written beside it', async ({ w }) => {
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
      'NodeGetInfo',
      'NotifyRegistrationStatus',
      'NodeGetCapabilities',
      'NodePublishVolume',
    ]);
    expect(driver.calls[2]?.request).toMatchObject({ pluginRegistered: true });
    expect(driver.calls[4]?.request).toEqual({
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

  it('must be supported by the driver', async ({ w }) => {
    await using _driver = await withDriver(w, false);
    w.csiDrivers.set(DRIVER, { spec: { volumeLifecycleModes: ['Persistent'] } });
    await expect(w.volumes.prepare(pod)).rejects.toThrow(
      `MountVolume.SetUp failed for volume "v" : kubernetes.io/csi: mounter.SetUpAt failed: volume mode "Ephemeral" not supported by driver ${DRIVER} (only supports ["Persistent"])`,
    );
  });

  it('needs a driver', async ({ w }) => {
    w.secrets.set('shop/key', { data: {} });
    await expect(w.volumes.prepare(pod)).rejects.toThrow(
      `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${DRIVER} not found in the list of registered CSI drivers`,
    );
    // Nothing was mounted, so that the pod can go.
    await w.volumes.release('u-1');
    expect(await w.volumes.leftovers()).toEqual([]);
  });

  it.runIf(isRoot)('stays while it is mounted and its driver is gone', async ({ w }) => {
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

  it('fails as the driver says', async ({ w }) => {
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

  it('stays when the driver cannot unpublish it', async ({ w }) => {
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

  async function world(driver: object = { attachRequired: false }) {
    const w = await VolumesWorld.create();
    w.csiDrivers.set(DRIVER, { spec: driver });
    w.claims.set('shop/mine', {
      metadata: { name: 'mine', uid: 'c' },
      spec: { volumeName: 'pv-1' },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    });
    w.persistentVolumes.set('pv-1', {
      metadata: { name: 'pv-1' },
      spec: {
        capacity: { storage: '2Gi' },
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
    w.csiDrivers.set(DRIVER, { spec: { attachRequired: false, fsGroupPolicy: 'File' } });
    await w.volumes.prepare(pod);
    expect((await stat(w.elsewhere('data/x'))).gid).toBe(55);
    await w.volumes.release('u-1');
  });

  const attachment = `csi-${createHash('sha256').update(`disk-7${DRIVER}node-1`).digest('hex')}`;

  it('is published when it is attached, with what the attacher says, and is in use until it is unstaged', async () => {
    await using w = await world({});
    await using driver = await withDriver(w, true);
    const preparing = w.volumes.prepare(podWith(volumes));
    const inUse = [`kubernetes.io/csi/${DRIVER}^disk-7`];
    await vi.waitFor(() => expect(w.reports.at(-1)).toEqual({ inUse }), 30_000);
    await w.clock.advance(500);
    expect(driver.nodeCalls).toEqual([]);
    w.attachments.set(attachment, { metadata: {}, status: { attached: true, attachmentMetadata: { lun: '3' } } });
    await vi.waitFor(async () => {
      await w.clock.advance(500);
      expect(driver.nodeCalls).toHaveLength(2);
    }, 30_000);
    await preparing;
    expect(driver.nodeCalls.map(({ request }) => request.publishContext)).toEqual([{ lun: '3' }, { lun: '3' }]);
    await w.restarted().release('u-1');
    expect(driver.nodeCalls.at(-1)?.method).toBe('NodeUnstageVolume');
    expect(w.reports.at(-1)).toEqual({ inUse: [] });
  });

  it('is not published when it cannot be attached', async () => {
    await using w = await world({});
    await using driver = await withDriver(w, true);
    w.attachments.set(attachment, { metadata: {}, status: { attached: false, attachError: { message: 'no slot' } } });
    await expect(w.volumes.prepare(podWith(volumes))).rejects.toThrow(
      'MountVolume.WaitForAttach failed for volume "data" : no slot',
    );
    expect(driver.nodeCalls).toEqual([]);
  });

  it('that cannot be staged fails at that step', async () => {
    await using w = await world();
    await using driver = await withDriver(w, true);
    driver.failures.set('NodeStageVolume', { code: 5, message: 'no disk' });
    await expect(w.volumes.prepare(podWith(volumes))).rejects.toThrow(
      'MountVolume.MountDevice failed for volume "data" : rpc error: code = NotFound desc = no disk',
    );
  });

  it('has the statistics that its driver gives, if it does', async () => {
    await using w = await world();
    await using driver = await withDriver(w, false, [2]);
    await w.volumes.prepare(podWith(volumes));
    expect(await w.volumes.driverStats('u-1')).toEqual([
      {
        ...{ name: 'data', claim: 'mine', availableBytes: 60, capacityBytes: 100, usedBytes: 40 },
        ...{ inodesFree: 7, inodes: 9, inodesUsed: 2 },
      },
    ]);
    expect(driver.calls.at(-1)).toMatchObject({
      method: 'NodeGetVolumeStats',
      request: { volumeId: 'disk-7', volumePath: join(w.path('csi', 'pv-1'), 'mount') },
    });
    driver.failures.set('NodeGetVolumeStats', { code: 13, message: 'broken' });
    expect(await w.volumes.driverStats('u-1')).toEqual([]);
    expect(await w.volumes.driverStats('another')).toEqual([]);
    await w.volumes.release('u-1');
  });

  it('has no statistics if its driver gives none', async () => {
    await using w = await world();
    await using driver = await withDriver(w, false);
    await w.volumes.prepare(podWith(volumes));
    expect(await w.volumes.driverStats('u-1')).toEqual([]);
    expect(driver.calls.map(({ method }) => method)).not.toContain('NodeGetVolumeStats');
    await w.volumes.release('u-1');
  });

  it('grows when it was made larger, also while pods use it', async () => {
    await using w = await world();
    await using driver = await withDriver(w, false, [3]);
    const pod = podWith(volumes);
    await w.volumes.prepare(pod);
    const expand = driver.nodeCalls.at(-1);
    expect(expand).toMatchObject({
      method: 'NodeExpandVolume',
      request: { volumeId: 'disk-7', volumePath: join(w.path('csi', 'pv-1'), 'mount') },
    });
    expect(String((expand!.request.capacityRange as { requiredBytes: unknown }).requiredBytes)).toBe(String(2 ** 31));
    expect(w.reports.at(-1)).toEqual({ expanded: 'mine', size: '2Gi' });
    const claim = w.claims.get('shop/mine') as { status: { capacity: object } };
    claim.status.capacity = { storage: '2Gi' };
    const calls = driver.nodeCalls.length;
    const { nextAt } = await w.volumes.refresh(pod);
    expect(driver.nodeCalls).toHaveLength(calls);
    expect(nextAt).toBe(w.clock.now() + 60_000);
    await w.volumes.release('u-1');
  });

  it('is given the group of the pod, and a mode for one writer, if the driver knows them', async () => {
    await using w = await world({ attachRequired: false, fsGroupPolicy: 'File' });
    await using driver = await withDriver(w, false, [5, 6]);
    const volume = w.persistentVolumes.get('pv-1') as { spec: { accessModes: string[] } };
    volume.spec.accessModes = ['ReadWriteOncePod'];
    await w.volumes.prepare(podWith(volumes, { securityContext: { fsGroup: 55 } }));
    expect(driver.nodeCalls.at(-1)?.request.volumeCapability).toEqual({
      mount: { mountFlags: ['noatime', 'ro'], volumeMountGroup: '55' },
      accessMode: { mode: 6 },
    });
    expect((await stat(w.elsewhere('data/x'))).gid).not.toBe(55);
    await w.volumes.release('u-1');
  });
});

describe('tokens for a driver', () => {
  const spec = { tokenRequests: [{ audience: 'vault', expirationSeconds: 600 }, { audience: '' }] };
  const pod = podWith([{ name: 'v', csi: { driver: DRIVER } }]);
  const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens';
  const modes = { volumeLifecycleModes: ['Ephemeral'] };

  it('are in the context of the volume, and are renewed when it is published again', async ({ w }) => {
    await using driver = await withDriver(w, false);
    w.csiDrivers.set(DRIVER, { spec: { ...spec, ...modes, requiresRepublish: true } });
    await w.volumes.prepare(pod);
    const tokens = () =>
      JSON.parse((driver.nodeCalls.at(-1)!.request.volumeContext as Record<string, string>)[TOKENS]!);
    expect(tokens()).toEqual({
      '': { token: 'token-1', expirationTimestamp: '2030-01-01T01:00:00Z' },
      vault: { token: 'token-2', expirationTimestamp: '2030-01-01T00:10:00Z' },
    });
    expect(w.tokenRequests[1]).toMatchObject({ audiences: ['vault'], boundPod: { name: 'web', uid: 'u-1' } });
    const { nextAt } = await w.volumes.refresh(pod);
    expect(nextAt).toBe(w.clock.now() + 60_000);
    await w.clock.advance(480_000);
    await w.volumes.refresh(pod);
    expect(tokens().vault).toEqual({ token: 'token-3', expirationTimestamp: '2030-01-01T00:18:00Z' });
    await w.volumes.release('u-1');
  });

  it('are secrets if the driver wants that', async ({ w }) => {
    await using driver = await withDriver(w, false);
    w.csiDrivers.set(DRIVER, { spec: { ...spec, ...modes, serviceAccountTokenInSecrets: true } });
    await w.volumes.prepare(pod);
    const { request } = driver.nodeCalls.at(-1)!;
    expect(request.secrets).toHaveProperty([TOKENS]);
    expect(request.volumeContext ?? {}).not.toHaveProperty([TOKENS]);
    expect((await w.volumes.refresh(pod)).nextAt).toBeUndefined();
    await w.volumes.release('u-1');
  });
});

describe('drivers', () => {
  it('are registered when they come, and removed when they go', async ({ w }) => {
    const stop = new AbortController();
    const following = w.volumes.followDrivers(stop.signal);
    {
      await using driver = await withDriver(w, false);
      await vi.waitFor(
        () =>
          expect(w.reports).toEqual([
            {
              added: {
                name: DRIVER,
                nodeId: `${DRIVER} on this node`,
                maxVolumes: 7,
                topology: { 'disk.example.com/rack': 'r1' },
              },
            },
          ]),
        30_000,
      );
      await vi.waitFor(() => expect(driver.calls.at(-1)?.request).toMatchObject({ pluginRegistered: true }), 30_000);
    }
    await vi.waitFor(() => expect(w.reports.at(-1)).toEqual({ removed: DRIVER }), 30_000);
    stop.abort();
    await following;
  });

  it('are used while another socket accepts connections and answers nothing', async ({ w }) => {
    await using driver = await withDriver(w, false);
    const silentSocket = createServer((socket) => socket.on('error', () => undefined));
    silentSocket.listen(join(w.root, 'plugins_registry', 'a-silent.sock'));
    await once(silentSocket, 'listening');
    const stop = new AbortController();
    const following = w.volumes.followDrivers(stop.signal);
    try {
      await vi.waitFor(() => expect(driver.calls.at(-1)?.request).toMatchObject({ pluginRegistered: true }), 30_000);
      const inline = { driver: DRIVER, volumeAttributes: {} };
      w.csiDrivers.set(DRIVER, { spec: { volumeLifecycleModes: ['Ephemeral'] } });
      await w.volumes.prepare(podWith([{ name: 'v', csi: inline }]));
      expect(driver.nodeCalls.at(-1)?.method).toBe('NodePublishVolume');
      await w.volumes.release('u-1');
    } finally {
      stop.abort();
      let isOver = false;
      void following.then(() => {
        isOver = true;
      });
      await vi.waitFor(async () => {
        await w.clock.advance(10_000);
        expect(isOver).toBe(true);
      }, 30_000);
      silentSocket.close();
    }
  });

  it('learn why they are not registered, and are tried again', async ({ w }) => {
    const stop = new AbortController();
    await using driver = await withDriver(w, false);
    driver.failures.set('NodeGetInfo', { code: 14, message: 'starting' });
    const following = w.volumes.followDrivers(stop.signal);
    await vi.waitFor(
      () => expect(driver.calls.at(-1)?.request).toEqual({ error: 'RegisterPlugin error -- starting' }),
      30_000,
    );
    expect(w.reports).toEqual([]);
    driver.failures.clear();
    await vi.waitFor(async () => {
      await w.clock.advance(2_000);
      expect(driver.calls.at(-1)?.request).toEqual({ pluginRegistered: true });
    }, 30_000);
    stop.abort();
    await following;
  });
});
