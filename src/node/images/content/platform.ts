/** Chooses the image for a platform from an index. */
import type { Descriptor, Platform } from './descriptor.ts';
import { isIndex, isManifest } from './media-types.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' };
/** Variants of an architecture, starting with that of images without one; older ones run on it, too. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = { arm64: ['v8', ''], arm: ['v7', '', 'v6', 'v5'] };

/** `architecture` in Node's words. */
export function platformOf(architecture: string): Platform {
  return { os: 'linux', architecture: ARCHITECTURES[architecture] ?? architecture };
}

/**
 * Returns the entry of an index that fits best; undefined if none does. A single one without a platform fits
 * everywhere.
 */
export function choosePlatform(manifests: readonly Descriptor[], platform: Platform): Descriptor | undefined {
  const images = manifests.filter(({ mediaType }) => mediaType === '' || isManifest(mediaType) || isIndex(mediaType));
  const fitting = images.filter(
    ({ platform: own }) => own?.os === platform.os && own.architecture === platform.architecture,
  );
  for (const variant of VARIANTS[platform.architecture] ?? ['']) {
    const found = fitting.find(({ platform: own }) => (own?.variant ?? '') === variant);
    if (found) return found;
  }
  return fitting[0] ?? (images.length === 1 && images[0]!.platform === undefined ? images[0] : undefined);
}
