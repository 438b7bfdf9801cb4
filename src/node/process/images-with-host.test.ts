import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { HOST_IMAGE_ID } from '../../kinds/shapes/container/host-image.ts';
import type { ImageStore } from '../images/image-store.ts';
import type { ContainerConfig } from '../runtime/container-config.ts';
import { imagesWithHost, resolveImage } from './images-with-host.ts';

const EMPTY = {
  list: async () => [],
  find: async () => undefined,
  pull: async () => 'sha256:1',
} as unknown as ImageStore;

it('has the image "host" where it is allowed', async () => {
  const images = imagesWithHost(EMPTY, true);
  expect(await images.pull('host', undefined)).toBe(HOST_IMAGE_ID);
  expect(await images.find(HOST_IMAGE_ID)).toMatchObject({ id: HOST_IMAGE_ID });
  expect(await images.list()).toMatchObject([{ id: HOST_IMAGE_ID }]);
});

it.each(['host', 'host:1', 'quarterdeck.local/host', HOST_IMAGE_ID])(
  'neither finds nor pulls %s where the image "host" is not allowed: the image of an admitted pod may change',
  async (reference) => {
    const images = imagesWithHost(EMPTY, false);
    await expect(images.find(reference)).rejects.toThrow('--allow-host-image');
    await expect(images.pull(reference, undefined)).rejects.toThrow('--allow-host-image');
    expect(await images.pull('busybox', undefined)).toBe('sha256:1');
    expect(await images.list()).toEqual([]);
  },
);

const IMAGE = 'sha256:1111';
let outside: string;
let image: string;
beforeEach(async () => {
  outside = temporaryDirectory();
  image = join(outside, 'image');
  await mkdir(join(image, 'etc'), { recursive: true });
  await writeFile(join(outside, 'secret'), 'root:x:4242:4242::/:');
});
const store = { unpack: async () => image, config: async () => ({}) } as unknown as ImageStore;
const resolve = (mounts: readonly object[] = []) =>
  resolveImage(
    { store, node: '/usr/bin/node', hidden: async () => [] },
    { imageId: IMAGE, mounts } as unknown as ContainerConfig,
    undefined,
  );
const mount = (subPath: string) => ({ image: { id: IMAGE, subPath } });

describe('the users of an image', () => {
  it('are in its own files, also behind links', async () => {
    await mkdir(join(image, 'usr/share'), { recursive: true });
    await writeFile(join(image, 'usr/share/passwd'), 'me:x:7:7::/:');
    await symlink('../usr/share/passwd', join(image, 'etc/passwd'));
    await symlink('/usr/share/passwd', join(image, 'etc/group'));
    expect((await resolve()).users).toEqual({ passwd: 'me:x:7:7::/:', group: 'me:x:7:7::/:' });
  });

  it.each(['/../../secret', '../../secret', '/proc/self/cwd/secret', '/dev/zero', '/etc/passwd'])(
    'are never in a file of the node: %s',
    async (target) => {
      await symlink(target, join(image, 'etc/passwd'));
      expect((await resolve()).users).toEqual({ passwd: '', group: '' });
    },
  );

  it('are never in the file of the node that an absolute link names', async () => {
    await symlink(join(outside, 'secret'), join(image, 'etc/passwd'));
    expect((await resolve()).users.passwd).toBe('');
  });

  it('are not in a file of any size', async () => {
    const file = await open(join(image, 'etc/passwd'), 'w');
    await file.truncate(600 * 2 ** 20);
    await file.close();
    await expect(resolve()).rejects.toMatchObject({
      code: 'CannotRun',
      message: 'etc/passwd of the image cannot be read: the file is larger than 1048576 bytes',
    });
  });
});

it('a part of an image that is mounted is a path without links', async () => {
  await mkdir(join(image, 'opt/data'), { recursive: true });
  await symlink('/opt/data', join(image, 'link'));
  const { mounted } = await resolve([mount(''), mount('opt'), mount('link')]);
  expect(mounted).toEqual({
    [IMAGE]: image,
    [`${IMAGE}/opt`]: join(image, 'opt'),
    [`${IMAGE}/link`]: join(image, 'opt/data'),
  });
});

it.each(['way/secret', 'missing', 'etc/../../secret'])(
  'a part of an image that is mounted is never %s of the node',
  async (subPath) => {
    await symlink(outside, join(image, 'way'));
    await expect(resolve([mount(subPath)])).rejects.toThrow(`the image volume has no "${subPath}"`);
  },
);
