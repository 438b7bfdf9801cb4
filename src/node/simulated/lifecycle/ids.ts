/** Names that a runtime gives, made up from what they stand for, so that they are the same after a restart. */
import { createHash } from 'node:crypto';

/** What the ids of containers begin with, and the runtime's name. */
export const RUNTIME = 'simulated';

const images = new Map<string, string>();
/** There are few images; a test that makes up new ones for ever is not to fill the memory. */
const REMEMBERED = 1_000;

/** Tells exactly which image a name stands for: always the same one here. */
export function imageIdOf(image: string): string {
  let id = images.get(image);
  if (id === undefined) {
    const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
    id = `${name}@sha256:${createHash('sha256').update(image).digest('hex')}`;
    if (images.size >= REMEMBERED) images.clear();
    images.set(image, id);
  }
  return id;
}

/** 64 hexadecimal digits, as runtimes have them: the pod, then which container, then which of its starts. */
export function containerIdOf(uid: string, container: number, start: number): string {
  const pod = uid.replaceAll('-', '').padEnd(32, '0');
  return `${RUNTIME}://${pod}${container.toString(16).padStart(16, '0')}${start.toString(16).padStart(16, '0')}`;
}

/** Bytes of an image, as made up as its id: some tens to hundreds of megabytes. */
export function imageSizeOf(image: string): number {
  const digits = imageIdOf(image).slice(-7);
  return 20_000_000 + (Number.parseInt(digits, 16) % 200_000_000);
}
