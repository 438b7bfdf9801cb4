/**
 * The image `host`: the files of the node, without any image. It is always there, so that a node without a registry runs
 * programs that are installed on it.
 */
import { dirname } from 'node:path';
import { HOST_IMAGE_ID } from '../../kinds/shapes/container/host-image.ts';
import type { ImageConfig } from '../images/image-config.ts';
import type { Image } from '../runtime/runtime.ts';

export const HOST_IMAGE: Image = {
  id: HOST_IMAGE_ID,
  tags: ['quarterdeck.local/host:latest'],
  digests: [],
  bytes: 0,
  user: undefined,
  isPinned: true,
};

/** Why a node does not run it, as part of a sentence. */
export const HOST_IMAGE_REFUSED =
  'the image "host", which is the file system of the node, is not allowed on this node (--allow-host-image)';

/** Its programs are found where those of the system and Node itself are. */
export function hostImageConfig(node: string): ImageConfig {
  const path = [dirname(node), '/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  return {
    user: undefined,
    env: [`PATH=${[...new Set(path)].join(':')}`],
    entrypoint: [],
    args: [],
    workingDirectory: undefined,
    stopSignal: undefined,
    volumes: [],
    labels: {},
  };
}
