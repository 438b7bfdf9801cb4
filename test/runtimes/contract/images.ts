/** Images, from archives and from a registry. */
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { credentialsFor } from '../../../src/node/agent/images/keyring.ts';
import { freePort } from '../../support/free-port.ts';
import { writeDockerArchive } from '../docker-archive.ts';
import { guardRegistry } from '../guarded-registry.ts';
import { TestRegistry } from '../registry.ts';
import { IMAGE, type Subject, writeImage } from '../world.ts';

export function describeImages({ world }: Subject): void {
  let registry: TestRegistry;

  beforeAll(async () => {
    registry = await TestRegistry.start(world().path('registry'));
  });

  afterAll(() => registry?.stop());

  it('finds an image by its names and its id', async () => {
    const { images } = world().runtime;
    const image = await images.find(IMAGE);
    expect(image).toMatchObject({ id: world().imageId, tags: [IMAGE], user: undefined });
    expect(image?.bytes).toBeGreaterThan(0);
    expect(await images.find('contract:1')).toEqual(image);
    expect(await images.find(world().imageId)).toEqual(image);
    expect(await images.find('contract:2')).toBeUndefined();
    expect((await images.list()).filter(({ id }) => id === world().imageId)).toEqual([image]);
  });

  it('loads an image twice, and under another name', async () => {
    const { images } = world().runtime;
    const archive = world().path('twice.tar');
    await writeImage(archive, { name: 'localhost:5000/some/name:tag' });
    expect(await images.load(archive)).toEqual(['localhost:5000/some/name:tag']);
    expect(await images.load(archive)).toEqual(['localhost:5000/some/name:tag']);
    const image = await images.find(IMAGE);
    expect(image?.tags.toSorted()).toEqual([IMAGE, 'localhost:5000/some/name:tag']);
    await images.remove('localhost:5000/some/name:tag');
    expect((await images.find(IMAGE))?.tags ?? []).not.toContain('localhost:5000/some/name:tag');
    await world().load();
  });

  it('loads archives of Docker with several images', async () => {
    const { images } = world().runtime;
    const archive = world().path('docker.tar.gz');
    await writeDockerArchive(world().path('contract.tar'), archive, ['docker-one:1', 'docker-two:2']);
    expect((await images.load(archive)).toSorted()).toEqual([
      'docker.io/library/docker-one:1',
      'docker.io/library/docker-two:2',
    ]);
    const image = await images.find('docker-two:2');
    const container = await world().run('echo from docker', { image: 'docker-two:2', imageId: image?.id ?? '' });
    expect(await container.output()).toBe('from docker');
  });

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 600_000)],
    ['changed', (bytes: Buffer) => bytes.fill('damage', 600_000, 600_006)],
    ['no archive at all', () => Buffer.from('This is no archive.')],
  ])('rejects an archive that is %s', async (_, damage) => {
    const { images } = world().runtime;
    const archive = world().path('damaged.tar');
    await writeImage(archive, { name: 'damaged:1', note: 'not the same as another image' });
    await writeFile(archive, damage(await readFile(archive)));
    await expect(images.load(archive)).rejects.toThrow();
    expect(await images.find('damaged:1')).toBeUndefined();
  });

  it('pulls an image from a registry, runs it, and removes it', async () => {
    const { runtime } = world();
    const archive = world().path('pulled.tar');
    await writeImage(archive, { name: 'pulled:1', note: 'pulled' });
    const name = await registry.push(archive, 'team/pulled');
    expect(await runtime.images.find(name)).toBeUndefined();
    const id = await runtime.images.pull(name, undefined);
    const image = await runtime.images.find(name);
    expect(image?.tags).toContain(name);
    expect(image?.digests[0]).toMatch(new RegExp(`^${registry.name}/team/pulled@sha256:`));
    expect([image?.id, ...(image?.digests ?? [])]).toContain(id);
    const container = await world().run('echo pulled', { image: name, imageId: image?.id ?? '' });
    expect(await container.output()).toBe('pulled');
    await world().removeAll();
    await runtime.images.remove(name);
    expect(await runtime.images.find(name)).toBeUndefined();
    await world().load();
  });

  it('pulls an image with the password that a Secret has for its registry', async () => {
    const { images } = world().runtime;
    const archive = world().path('guarded.tar');
    await writeImage(archive, { name: 'guarded:1', note: 'guarded' });
    await registry.push(archive, 'team/guarded');
    const guarded = await guardRegistry(registry.name, 'user:secret');
    try {
      const name = `${guarded.name}/team/guarded:1`;
      const auths = { [guarded.name]: { auth: Buffer.from('user:secret').toString('base64') } };
      const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
      const [credentials] = credentialsFor(name, [{ type: 'kubernetes.io/dockerconfigjson', data }]);
      await expect(images.pull(name, undefined)).rejects.toThrow();
      await images.pull(name, credentials);
      expect((await images.find(name))?.tags).toContain(name);
      await images.remove(name);
    } finally {
      await guarded.stop();
    }
  });

  it.each([
    ['is not there', async () => `${registry.name}/team/nothing:1`, 'ImageNotFound'],
    ['is in a registry that does not answer', async () => `127.0.0.1:${await freePort()}/a:1`, 'RegistryUnavailable'],
    ['has no valid name', async () => 'Not/A/Name::1', 'InvalidImageName'],
  ])('says why an image cannot be pulled that %s', async (_, name, code) => {
    await expect(world().runtime.images.pull(await name(), undefined)).rejects.toMatchObject({
      name: 'RuntimeError',
      code,
    });
  });

  it('knows what images take on disk', async () => {
    const { bytes, directory } = await world().runtime.images.usage();
    expect(bytes).toBeGreaterThanOrEqual(0);
    expect(directory.startsWith('/')).toBe(true);
  });
}
