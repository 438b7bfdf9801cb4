import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { silent } from '../../../base/log.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { buildImage, type ImageSpec } from '../build/build-image.ts';
import { digestOf } from '../content/digest.ts';
import { platformOf } from '../content/platform.ts';
import { type TarInput, writeTar } from '../tar/write-tar.ts';
import { isMounted } from '../unpack/overlay.ts';
import { DirectoryImageStore } from './directory-store.ts';

const isRoot = process.getuid?.() === 0;
let directory: string;
let store: DirectoryImageStore;
const roots: string[] = [];

beforeEach(async () => {
  directory = temporaryDirectory();
  store = await openStore();
});
afterEach(async () => {
  for (const root of roots.splice(0)) await store.removeRoot(root);
});

function openStore(isRootUser = isRoot): Promise<DirectoryImageStore> {
  return DirectoryImageStore.open({
    directory: join(directory, 'images'),
    clock: systemClock,
    log: silent,
    source: {
      pull: () => {
        throw new Error('nothing is pulled here');
      },
    },
    platform: platformOf(process.arch),
    isRoot: isRootUser,
  });
}

const SPEC: ImageSpec = {
  name: 'app:1',
  architecture: process.arch,
  files: [{ type: 'bytes', path: '/etc/motd', bytes: Buffer.from('hello') }],
  config: { entrypoint: ['/bin/app'], args: ['-v'], env: ['A=b'], user: '7:8' },
};

async function load(spec: Partial<ImageSpec> = {}): Promise<string> {
  const archive = join(directory, 'x.tar');
  const { id } = await buildImage({ ...SPEC, ...spec }, archive);
  await store.load(archive);
  return id;
}

function containerDirectory(name: string): string {
  const path = join(directory, name);
  roots.push(path);
  return path;
}

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const entry = (path: string, content: Buffer): TarInput => ({
  type: 'file',
  path,
  size: content.length,
  content: [content],
});
const tar = (...entries: TarInput[]): Promise<Buffer> => buffer(writeTar(entries));

test('an archive is loaded, found by every form of its name, and listed', async () => {
  const id = await load();
  const image = { id, tags: ['docker.io/library/app:1'], user: 7, isPinned: false };
  expect(await store.list()).toMatchObject([image]);
  const [digest] = (await store.find('app:1'))!.digests;
  expect(digest).toMatch(/^docker.io\/library\/app@sha256:/);
  for (const name of ['app:1', 'docker.io/library/app:1', id, digest!])
    expect(await store.find(name)).toMatchObject(image);
  expect(await store.find('app:2')).toBeUndefined();
  expect(await store.config(id)).toMatchObject({ entrypoint: ['/bin/app'], args: ['-v'], env: ['A=b'], user: '7:8' });
});

test('a new store on the same directory has the same images', async () => {
  const id = await load();
  expect(await (await openStore()).list()).toMatchObject([{ id }]);
});

test('two names of one image are one image; a name that is loaded again is another', async () => {
  const first = await load();
  await load({ name: 'other:1' });
  expect(await store.list()).toMatchObject([
    { id: first, tags: ['docker.io/library/app:1', 'docker.io/library/other:1'] },
  ]);
  const second = await load({ files: [] });
  expect((await store.find('app:1'))?.id).toBe(second);
  expect((await store.find('other:1'))?.id).toBe(first);
});

test('a removed image leaves nothing behind, and others their layers', async () => {
  await store.unpack(await load());
  const kept = await load({ name: 'other:1', config: {} });
  await store.remove('app:1');
  expect(await store.find('app:1')).toBeUndefined();
  expect(existsSync(join(await store.unpack(kept), 'etc/motd'))).toBe(true);
  await store.remove(kept);
  expect((await store.usage()).bytes).toBe(0);
  for (const folder of ['blobs/sha256', 'names', 'roots', 'ingest']) {
    expect(readdirSync(join(directory, 'images', folder))).toEqual([]);
  }
  await store.remove(kept);
});

test('usage counts blobs and unpacked files', async () => {
  const id = await load({ files: [{ type: 'bytes', path: 'big', bytes: Buffer.alloc(1_000_000) }] });
  const { bytes: blobs } = await store.usage();
  expect(blobs).toBeGreaterThan(1_000_000);
  await store.unpack(id);
  expect(await store.usage()).toEqual({ bytes: blobs + 1_000_000, directory: join(directory, 'images') });
});

test('archives of docker save are loaded, with layers that are links, compressed as a whole', async () => {
  const lower = await tar(entry('a', bytes('lower')), entry('b', bytes('b')));
  const upper = await tar(entry('.wh.b', bytes('')), entry('c', bytes('upper')));
  const config = bytes({ config: { Cmd: ['sh'] }, rootfs: { diff_ids: [lower, upper, lower].map(digestOf) } });
  const archive = join(directory, 'saved.tar.gz');
  const manifest = [
    { Config: 'c.json', RepoTags: ['a:1', 'b:2'], Layers: ['1/layer.tar', '2/layer.tar', '3/layer.tar'] },
  ];
  const saved = await tar(
    entry('1/layer.tar', lower),
    { type: 'symlink', path: '3/layer.tar', size: 0, linkTarget: '../1/layer.tar' },
    entry('2/layer.tar', upper),
    entry('c.json', config),
    entry('manifest.json', bytes(manifest)),
  );
  writeFileSync(archive, gzipSync(saved));
  expect(await store.load(archive)).toEqual(['docker.io/library/a:1', 'docker.io/library/b:2']);
  const root = await store.unpack((await store.find('b:2'))!.id);
  expect(readdirSync(root).sort()).toEqual(['a', 'b', 'c']);
});

async function layout(descriptors: object[], blobs: Buffer[]): Promise<string> {
  const archive = join(directory, 'My Layout.tar');
  const files = blobs.map((blob) => entry(`blobs/sha256/${digestOf(blob).slice(7)}`, blob));
  writeFileSync(archive, await tar(...files, entry('index.json', bytes({ schemaVersion: 2, manifests: descriptors }))));
  return archive;
}
const OCI = 'application/vnd.oci.image';
const descriptor = (kind: string, blob: Buffer, more: object = {}) => ({
  mediaType: `${OCI}.${kind}`,
  digest: digestOf(blob),
  size: blob.length,
  ...more,
});
function manifestOf(architecture: string): { manifest: Buffer; blobs: Buffer[] } {
  const config = bytes({ architecture, rootfs: { diff_ids: [] } });
  const manifest = bytes({
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: descriptor('config.v1+json', config),
    layers: [],
  });
  return { manifest, blobs: [config, manifest] };
}

test('the image of an index for this machine is taken; a tag alone gets the name of the file', async () => {
  const own = platformOf(process.arch).architecture;
  const [mine, other] = [manifestOf(own), manifestOf('s390x')];
  const index = bytes({
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [
      descriptor('manifest.v1+json', other.manifest, { platform: { os: 'linux', architecture: 's390x' } }),
      descriptor('manifest.v1+json', mine.manifest, { platform: { os: 'linux', architecture: own } }),
    ],
  });
  const annotations = { 'org.opencontainers.image.ref.name': 'v3' };
  const archive = await layout(
    [descriptor('index.v1+json', index, { annotations })],
    [index, ...mine.blobs, ...other.blobs],
  );
  expect(await store.load(archive)).toEqual(['localhost/my-layout:v3']);
  expect((await store.find('localhost/my-layout:v3'))?.id).toBe(digestOf(mine.blobs[0]!));
});

test('an archive without an image for this machine is an error', async () => {
  const { manifest, blobs } = manifestOf('s390x');
  const platform = { os: 'linux', architecture: 's390x' };
  const archive = await layout([descriptor('manifest.v1+json', manifest, { platform })], blobs);
  await expect(store.load(archive)).rejects.toThrow(/has no image for linux\//);
});

test('a blob with the wrong digest is an error, and nothing is kept', async () => {
  const archive = join(directory, 'bad.tar');
  writeFileSync(
    archive,
    await tar(entry(`blobs/sha256/${'0'.repeat(64)}`, bytes('x')), entry('index.json', bytes({}))),
  );
  await expect(store.load(archive)).rejects.toThrow('is damaged');
  expect(readdirSync(join(directory, 'images/ingest'))).toEqual([]);
  expect(await store.list()).toEqual([]);
});

test('an archive without one of its blobs is an error', async () => {
  const { manifest } = manifestOf('x');
  await expect(store.load(await layout([descriptor('manifest.v1+json', manifest)], [manifest]))).rejects.toThrow(
    'is missing',
  );
});

test('something else is not an image', async () => {
  writeFileSync(join(directory, 'x'), await tar(entry('readme', bytes('x'))));
  await expect(store.load(join(directory, 'x'))).rejects.toThrow('this is not an image');
});

test('a layer that does not unpack to what the image says is an error', async () => {
  const id = await load();
  const blobs = join(directory, 'images/blobs/sha256');
  const layer = readdirSync(blobs).find((name) => readFileSync(join(blobs, name)).includes('etc/motd'))!;
  const content = readFileSync(join(blobs, layer));
  content[content.indexOf('hello')] = 0x48;
  writeFileSync(join(blobs, layer), content);
  await expect(store.unpack(id)).rejects.toThrow('is damaged');
  await load();
  expect(readFileSync(join(await store.unpack(id), 'etc/motd'), 'utf8')).toBe('hello');
});

test('files that were unpacked before the machine started are unpacked again', async () => {
  const id = await load();
  const root = await store.unpack(id);
  writeFileSync(join(root, 'etc/motd'), '');
  const info = join(root, '../info.json');
  writeFileSync(info, JSON.stringify({ ...JSON.parse(readFileSync(info, 'utf8')), boot: 'earlier' }));
  expect(readFileSync(join(await store.unpack(id), 'etc/motd'), 'utf8')).toBe('hello');
});

test('leftovers of a dead process are removed, and files of a running one are kept', async () => {
  const ingest = join(directory, 'images/ingest');
  mkdirSync(join(ingest, '999999999-5-abc'), { recursive: true });
  const { pid } = process;
  const started = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[19];
  mkdirSync(join(ingest, `${pid}-${started}-abc`));
  await openStore();
  expect(readdirSync(ingest)).toEqual([`${pid}-${started}-abc`]);
});

test.each([
  ['a mount', isRoot],
  ['a copy', false],
])('containers write to a root of their own: %s', async (_, asRoot) => {
  store = await openStore(asRoot);
  const id = await load();
  const [a, b] = [containerDirectory('a'), containerDirectory('b')];
  const first = await store.createRoot(id, a);
  const second = await store.createRoot(id, b);
  writeFileSync(join(first.path, 'etc/motd'), 'changed');
  expect(readFileSync(join(second.path, 'etc/motd'), 'utf8')).toBe('hello');
  expect(readFileSync(join(first.writable, 'etc/motd'), 'utf8')).toBe('changed');
  // The same root again, with the files that were written.
  expect(await store.createRoot(id, a)).toEqual(first);
  expect(readFileSync(join(first.path, 'etc/motd'), 'utf8')).toBe('changed');
  await expect(store.remove(id)).rejects.toThrow('is used by');
  for (const path of [a, b]) await store.removeRoot(path);
  await store.removeRoot(a);
  expect(readdirSync(a)).toEqual([]);
  await store.remove(id);
  expect(await store.list()).toEqual([]);
});

const hasOverlay =
  isRoot &&
  (() => {
    const path = mkdtempSync(join(tmpdir(), 'qd-overlay-'));
    for (const name of ['l', 'u', 'w', 't']) mkdirSync(join(path, name));
    const options = `lowerdir=${path}/l,upperdir=${path}/u,workdir=${path}/w`;
    const { status } = spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', options, join(path, 't')]);
    if (status === 0) execFileSync('umount', [join(path, 't')]);
    rmSync(path, { recursive: true });
    return status === 0;
  })();

/** Overlay mounts need root, and a file system that takes them. */
test.runIf(hasOverlay)('an overlay is mounted again after a restart of the machine', async () => {
  const id = await load();
  const path = containerDirectory('a');
  const root = await store.createRoot(id, path);
  expect(await isMounted(root.path)).toBe(true);
  writeFileSync(join(root.path, 'own'), 'mine');
  execFileSync('umount', [root.path]);
  expect(existsSync(join(root.path, 'own'))).toBe(false);
  await store.createRoot(id, path);
  expect(readFileSync(join(root.path, 'own'), 'utf8')).toBe('mine');
});

test('an image that is used by a container whose directory is gone can be removed', async () => {
  store = await openStore(false);
  const id = await load();
  const path = containerDirectory('a');
  await store.createRoot(id, path);
  rmSync(path, { recursive: true });
  await store.remove(id);
  expect(await store.list()).toEqual([]);
});

test('two stores on one directory work at the same time', async () => {
  const other = await openStore();
  const archives = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (number) => {
      const archive = join(directory, `${number}.tar`);
      await buildImage({ ...SPEC, name: `app:${number}`, config: { args: [String(number)] } }, archive);
      return archive;
    }),
  );
  await Promise.all(archives.map((archive, number) => (number % 2 ? store : other).load(archive)));
  await Promise.all([store.remove('app:1'), other.remove('app:2')]);
  const images = await store.list();
  expect(images.map(({ tags }) => tags[0])).toEqual([3, 4, 5, 6].map((number) => `docker.io/library/app:${number}`));
  for (const { id } of images) expect(existsSync(join(await store.unpack(id), 'etc/motd'))).toBe(true);
});
