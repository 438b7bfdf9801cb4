/** Derives the IDs that a runtime assigns, so that they stay the same after a restart. */
import { createHash } from 'node:crypto';
import { BoundedMap, textBytes } from '../../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';

/** The name of the runtime, which container IDs start with. */
export const RUNTIME = 'simulated';

const MAX_CACHED_BYTES = 512 * 1024;
const images = new BoundedMap<string>({ maxBytes: MAX_CACHED_BYTES, bytesOf: textBytes });

/** Returns the image ID, which is always the same for a reference. */
export function imageIdOf(image: string): string {
  return getOrInsert(images, image, () => {
    const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
    return `${name}@sha256:${createHash('sha256').update(image).digest('hex')}`;
  });
}

/** Returns 64 hexadecimal digits: the pod, the container and the number of its starts. */
export function containerIdOf(uid: string, container: number, start: number): string {
  const pod = uid.replaceAll('-', '').padEnd(32, '0');
  return `${RUNTIME}://${pod}${container.toString(16).padStart(16, '0')}${start.toString(16).padStart(16, '0')}`;
}

/** Returns a size in bytes: some tens to hundreds of megabytes. */
export function imageSizeOf(image: string): number {
  const digits = imageIdOf(image).slice(-7);
  return 20_000_000 + (Number.parseInt(digits, 16) % 200_000_000);
}
