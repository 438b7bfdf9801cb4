/** ConfigMap, Secret, downward API and projected volumes, on real directories. */
import { lstat, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { seenPod } from '../../../test/support/node/seen-pod.ts';
import { it, podWith, VolumesWorld } from '../../../test/support/node/volumes-world.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const text = (path: string) => readFile(path, 'utf8');
const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;
const visible = async (path: string) => (await readdir(path)).filter((name) => !name.startsWith('..')).sort();

describe('a ConfigMap volume', () => {
  const volume = (parts: object = {}) => ({
    name: 'config',
    configMap: { name: 'settings', defaultMode: 0o644, ...parts },
  });

  async function world() {
    const made = await VolumesWorld.create();
    made.configMaps.set('shop/settings', {
      data: { a: 'one', b: 'two' },
      binaryData: { bin: Buffer.from([0, 255]).toString('base64') },
    });
    return made;
  }

  it('has a file for each key, binary ones included', async () => {
    await using w = await world();
    const prepared = await w.volumes.prepare(podWith([volume()]));
    const path = w.path('configmap', 'config');
    expect(prepared.get('config')).toEqual({ type: 'directory', path, readOnly: true, selinuxRelabel: true });
    expect(await visible(path)).toEqual(['a', 'b', 'bin']);
    expect(await text(join(path, 'a'))).toBe('one');
    expect(await readFile(join(path, 'bin'))).toEqual(Buffer.from([0, 255]));
    expect(await modeOf(join(path, 'a'))).toBe(0o644);
    expect(await readlink(join(path, 'a'))).toBe('..data/a');
    expect(await readlink(join(path, '..data'))).toMatch(/^\.\.2030_01_01_00_00_00\.\d+$/);
  });

  it('shows chosen keys under other paths, with their modes', async () => {
    await using w = await world();
    const items = [
      { key: 'a', path: 'deep/er/x', mode: 0o400 },
      { key: 'b', path: 'y' },
    ];
    await w.volumes.prepare(podWith([volume({ items, defaultMode: 0o640 })]));
    const path = w.path('configmap', 'config');
    expect(await visible(path)).toEqual(['deep', 'y']);
    expect(await text(join(path, 'deep/er/x'))).toBe('one');
    expect(await modeOf(join(path, 'deep/er/x'))).toBe(0o400);
    expect(await modeOf(join(path, 'y'))).toBe(0o640);
  });

  it.each([
    [{ name: 'none' }, 'MountVolume.SetUp failed for volume "config" : configmap "none" not found'],
    [
      { items: [{ key: 'z', path: 'z' }] },
      'MountVolume.SetUp failed for volume "config" : configmap references non-existent config key: z',
    ],
    [
      { items: [{ key: 'a', path: '../../x' }] },
      `MountVolume.SetUp failed for volume "config" : invalid path: must not contain '..': ../../x`,
    ],
    [
      { items: [{ key: 'a', path: '/etc/x' }] },
      'MountVolume.SetUp failed for volume "config" : invalid path: must be relative path: /etc/x',
    ],
    [
      { items: [{ key: 'a', path: '..data' }] },
      `MountVolume.SetUp failed for volume "config" : invalid path: must not start with '..': ..data`,
    ],
    [
      { items: [{ key: 'a', path: 'x\0y' }] },
      'MountVolume.SetUp failed for volume "config" : configMap.items[0].path contains a zero byte',
    ],
  ])('fails with %j', async (parts, message) => {
    await using w = await world();
    await expect(w.volumes.prepare(podWith([volume(parts)]))).rejects.toMatchObject({ name: 'VolumeError', message });
  });

  it('is empty when it is optional and missing, and lacks optional keys', async () => {
    await using w = await world();
    await w.volumes.prepare(podWith([volume({ name: 'none', optional: true })]));
    expect(await visible(w.path('configmap', 'config'))).toEqual([]);
    const items = [
      { key: 'a', path: 'a' },
      { key: 'z', path: 'z' },
    ];
    await w.volumes.prepare(podWith([volume({ items, optional: true })], {}, { uid: 'u-2' }));
    expect(await visible(w.path('configmap', 'config', 'u-2'))).toEqual(['a']);
  });

  it('does not change in a running pod, not even after a restart of the agent', async () => {
    await using w = await world();
    const pod = podWith([volume()]);
    await w.volumes.prepare(pod);
    w.configMaps.set('shop/settings', { data: { a: 'new' } });
    await w.volumes.refresh(pod);
    await w.restarted().prepare(pod);
    expect(await visible(w.path('configmap', 'config'))).toEqual(['a', 'b', 'bin']);
    expect(await text(join(w.path('configmap', 'config'), 'a'))).toBe('one');
  });

  it('changes atomically when configuration is live', async () => {
    await using w = await world();
    const live = w.restarted({ liveConfigVolumes: true });
    const pod = podWith([volume()]);
    await live.prepare(pod);
    const path = w.path('configmap', 'config');
    const before = await readlink(join(path, '..data'));
    // The next look needs no request.
    expect(await live.refresh(pod)).toEqual({ nextAt: w.clock.now() + 30_000 });
    expect(await readlink(join(path, '..data'))).toBe(before);

    w.configMaps.set('shop/settings', { data: { a: 'new', c: 'three' } });
    await live.refresh(pod);
    expect(await visible(path)).toEqual(['a', 'c']);
    expect(await text(join(path, 'a'))).toBe('new');
    expect(await readlink(join(path, '..data'))).not.toBe(before);
    // The old directory is gone.
    expect((await readdir(path)).filter((name) => name.startsWith('..2'))).toHaveLength(1);
  });

  it('keeps its files when a live ConfigMap is deleted', async () => {
    await using w = await world();
    const live = w.restarted({ liveConfigVolumes: true });
    const pod = podWith([volume()]);
    await live.prepare(pod);
    w.configMaps.clear();
    await expect(live.refresh(pod)).rejects.toThrow('configmap "settings" not found');
    expect(await text(join(w.path('configmap', 'config'), 'a'))).toBe('one');
  });

  it('has directories for what is mounted inside it', async () => {
    await using w = await world();
    const volumeMounts = [
      { name: 'config', mountPath: '/etc/app' },
      { name: 'other', mountPath: '/etc/app/nested' },
    ];
    await w.volumes.prepare(
      podWith([volume(), { name: 'other', emptyDir: {} }], {
        containers: [{ name: 'c', image: 'i', resources: {}, volumeMounts }],
      }),
    );
    expect((await lstat(join(w.path('configmap', 'config'), 'nested'))).isDirectory()).toBe(true);
  });
});

describe('a Secret volume', () => {
  const volume = (parts: object = {}) => ({
    name: 'keys',
    secret: { secretName: 'hidden', defaultMode: 0o600, ...parts },
  });

  it('has the decoded values', async ({ w }) => {
    w.secrets.set('shop/hidden', { data: { password: base64('geheim') } });
    await w.volumes.prepare(podWith([volume()]));
    const file = join(w.path('secret', 'keys'), 'password');
    expect(await text(file)).toBe('geheim');
    expect(await modeOf(file)).toBe(0o600);
  });

  it('fails in the words of kubelet', async ({ w }) => {
    await expect(w.volumes.prepare(podWith([volume()]))).rejects.toThrow(
      'MountVolume.SetUp failed for volume "keys" : secret "hidden" not found',
    );
    w.secrets.set('shop/hidden', { data: {} });
    await expect(w.volumes.prepare(podWith([volume({ items: [{ key: 'z', path: 'z' }] })]))).rejects.toThrow(
      'MountVolume.SetUp failed for volume "keys" : references non-existent secret key: z',
    );
  });
});

describe('a downward API volume', () => {
  const items = [
    { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
    { path: 'cpu', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' }, mode: 0o400 },
  ];
  const volumes = [{ name: 'info', downwardAPI: { items, defaultMode: 0o644 } }];

  it('shows fields of the pod, and follows their changes', async ({ w }) => {
    await w.volumes.prepare(podWith(volumes, {}, { labels: { app: 'x' } }));
    const path = w.path('downward-api', 'info');
    expect(await text(join(path, 'labels'))).toBe('app="x"');
    expect(await text(join(path, 'cpu'))).toBe('4');
    expect(await modeOf(join(path, 'cpu'))).toBe(0o400);

    await w.volumes.refresh(podWith(volumes, {}, { labels: { app: 'y' } }));
    expect(await text(join(path, 'labels'))).toBe('app="y"');
  });
});

describe('a projected volume', () => {
  const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } };
  const ca = { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } };
  const own = { configMap: { name: 'settings' } };
  const namespace = { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } };
  const volumeOf = (...sources: object[]) => [{ name: 'access', projected: { sources, defaultMode: 0o644 } }];

  async function world() {
    const made = await VolumesWorld.create();
    made.configMaps.set('shop/kube-root-ca.crt', { data: { 'ca.crt': 'old CA' } });
    made.configMaps.set('shop/settings', { data: { a: 'one' } });
    return made;
  }

  it('has the credentials of a service account', async () => {
    await using w = await world();
    await w.volumes.prepare(podWith(volumeOf(token, ca, namespace)));
    const path = w.path('projected', 'access');
    expect(await visible(path)).toEqual(['ca.crt', 'namespace', 'token']);
    expect(await text(join(path, 'token'))).toBe('token-1');
    expect(await text(join(path, 'namespace'))).toBe('shop');
    expect(w.tokenRequests).toEqual([
      { serviceAccount: 'robot', audiences: [], expirationSeconds: 3600, boundPod: { name: 'web', uid: 'u-1' } },
    ]);
  });

  it('renews the token after 80 % of its life, and the CA, but not configuration', async () => {
    await using w = await world();
    const pod = podWith(volumeOf(token, ca, own));
    await w.volumes.prepare(pod);
    const path = w.path('projected', 'access');
    w.configMaps.set('shop/kube-root-ca.crt', { data: { 'ca.crt': 'new CA' } });
    w.configMaps.set('shop/settings', { data: { a: 'two' } });

    const { nextAt } = await w.volumes.refresh(pod);
    expect(nextAt).toBe(w.clock.now() + 2880 * 1000);
    expect(await text(join(path, 'token'))).toBe('token-1');
    expect(await text(join(path, 'ca.crt'))).toBe('new CA');
    expect(await text(join(path, 'a'))).toBe('one');

    await w.clock.advance(2880 * 1000);
    expect(await w.volumes.refresh(pod)).toEqual({ nextAt: w.clock.now() + 2880 * 1000 });
    expect(await text(join(path, 'token'))).toBe('token-2');
    expect(await text(join(path, 'a'))).toBe('one');
    expect(await visible(path)).toEqual(['a', 'ca.crt', 'token']);
  });

  it('renews a long-lived token after a day', async () => {
    await using w = await world();
    const pod = podWith(volumeOf({ serviceAccountToken: { path: 'token', expirationSeconds: 10 * 86400 } }));
    await w.volumes.prepare(pod);
    expect(await w.volumes.refresh(pod)).toEqual({ nextAt: w.clock.now() + 86400 * 1000 });
  });

  it('keeps the old token while it is valid and no new one can be had', async () => {
    await using w = await world();
    const pod = podWith(volumeOf(token));
    await w.volumes.prepare(pod);
    w.tokenFailure = 'the server is gone';
    await w.clock.advance(3000 * 1000);
    await w.volumes.refresh(pod);
    expect(await text(join(w.path('projected', 'access'), 'token'))).toBe('token-1');
    await w.clock.advance(700 * 1000);
    await expect(w.volumes.refresh(pod)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "access" : token expired and refresh failed: the server is gone',
    );
  });

  it('requests tokens for an audience', async () => {
    await using w = await world();
    await w.volumes.prepare(
      podWith(volumeOf({ serviceAccountToken: { path: 'vault', audience: 'vault', expirationSeconds: 600 } })),
    );
    expect(w.tokenRequests[0]).toMatchObject({ audiences: ['vault'], expirationSeconds: 600 });
  });

  it('makes credentials readable only to the pod', async () => {
    await using w = await world();
    await w.volumes.prepare(podWith(volumeOf(token), { securityContext: { runAsUser: 12 } }));
    const file = join(w.path('projected', 'access'), 'token');
    expect(await modeOf(file)).toBe(0o600);
    if (process.getuid?.() === 0) expect((await stat(file)).uid).toBe(12);
    await w.volumes.prepare(podWith(volumeOf(token), { securityContext: { fsGroup: 34 } }, { uid: 'u-2' }));
    const shared = join(w.path('projected', 'access', 'u-2'), 'token');
    if (process.getuid?.() === 0) expect((await stat(shared)).gid).toBe(34);
    expect(await modeOf(shared)).toBe(0o640);
    // Renewal keeps owner and mode.
    await w.clock.advance(3000 * 1000);
    await w.volumes.refresh(podWith(volumeOf(token), { securityContext: { fsGroup: 34 } }, { uid: 'u-2' }));
    expect(await text(shared)).toBe('token-3');
    expect(await modeOf(shared)).toBe(0o640);
  });

  it('joins the certificates of trust bundles', async () => {
    await using w = await world();
    const one = '-----BEGIN CERTIFICATE-----\nMIIA\n-----END CERTIFICATE-----';
    const two = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
    w.bundles = [`${two}\n`, `${one}\n${two}\n`];
    const bundle = (parts: object) => volumeOf({ clusterTrustBundle: { path: 'trust.pem', ...parts } });
    await w.volumes.prepare(podWith(bundle({ signerName: 'example.com/s' })));
    expect(await text(join(w.path('projected', 'access'), 'trust.pem'))).toBe(`${one}\n${two}\n`);
    expect(w.bundleRequests).toEqual([{ signerName: 'example.com/s', labelSelector: undefined }]);
    w.bundles = [];
    await expect(w.volumes.prepare(podWith(bundle({ name: 'x' }), {}, { uid: 'u-2' }))).rejects.toThrow(
      'MountVolume.SetUp failed for volume "access" : clustertrustbundle "x" not found',
    );
    await w.volumes.prepare(podWith(bundle({ name: 'x', optional: true }), {}, { uid: 'u-3' }));
    expect(await text(join(w.path('projected', 'access', 'u-3'), 'trust.pem'))).toBe('');
  });

  it('rejects what the server does not offer', async () => {
    await using w = await world();
    const podCertificate = { signerName: 'x/y', keyType: 'ED25519', credentialBundlePath: 'c' };
    await expect(w.volumes.prepare(podWith(volumeOf({ podCertificate })))).rejects.toThrow(
      'MountVolume.SetUp failed for volume "access" : podCertificate sources are not supported: the server has no PodCertificateRequests',
    );
  });

  it('does not bring back the volume of a pod that is gone', async () => {
    await using w = await world();
    const pod = podWith(volumeOf(token));
    await w.volumes.prepare(pod);
    await w.volumes.release('u-1');
    await w.volumes.refresh(pod);
    expect(await w.volumes.leftovers()).toEqual([]);
  });

  it('goes on after a crash between two writes', async () => {
    await using w = await world();
    const pod = podWith(volumeOf(token));
    await w.volumes.prepare(pod);
    const path = w.path('projected', 'access');
    // A crash left the link that was to become `..data`.
    await writeFile(join(path, '..data_tmp'), 'left behind');
    await w.clock.advance(3000 * 1000);
    await w.volumes.refresh(pod);
    expect(await text(join(path, 'token'))).toBe('token-2');
  });
});

it('needs no volumes', async ({ w }) => {
  expect(await w.volumes.prepare(seenPod())).toEqual(new Map());
  expect(await w.volumes.refresh(seenPod())).toEqual({ nextAt: undefined });
  await w.volumes.release('u-1');
});
