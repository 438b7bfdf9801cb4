/**
 * The image `host`: the files of the node, without any image. It is always there, so that a node without a registry runs
 * programs that are installed on it.
 */
import { dirname } from 'node:path';
import type { ImageConfig } from '../images/image-config.ts';
import type { Image } from '../runtime/runtime.ts';

export const HOST_IMAGE_ID = 'sha256:0000000000000000000000000000000000000000000000000000000000000000';
const HOST_NAMES = ['host', 'quarterdeck.local/host'];

export const HOST_IMAGE: Image = {
  id: HOST_IMAGE_ID,
  tags: ['quarterdeck.local/host:latest'],
  digests: [],
  bytes: 0,
  user: undefined,
  isPinned: true,
};

/** Whether a name or id means the files of the node. A tag makes no difference. */
export function isHostImage(reference: string): boolean {
  return (
    reference === HOST_IMAGE_ID || HOST_NAMES.some((name) => reference === name || reference.startsWith(`${name}:`))
  );
}

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
