import { expect, it } from 'vitest';
import { HOST_IMAGE_ID } from '../../kinds/shapes/container/host-image.ts';
import type { ImageStore } from '../images/image-store.ts';
import { imagesWithHost } from './images-with-host.ts';

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
