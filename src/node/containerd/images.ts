/** Images over CRI. */
import type { RuntimeError } from '../runtime/errors.ts';
import type { Image, Images, RegistryCredentials } from '../runtime/runtime.ts';
import type { Connection } from './calls/connection.ts';
import { pullError } from './calls/errors.ts';
import { cri } from './calls/methods.ts';
import { seenImage } from './conversion/seen.ts';

interface ImagesOptions {
  readonly connection: Connection;
  /** The image of sandboxes, which is never removed as garbage. */
  readonly pauseImage: string | undefined;
  /** Loads an archive, and returns the names of the images in it. */
  readonly load: (archive: string) => Promise<readonly string[]>;
}

/** Timeout of a pull, which is hardly ever reached: containerd ends a pull that makes no progress. */
const PULL_TIMEOUT_MS = 24 * 60 * 60_000;

export class CriImages implements Images {
  constructor(private readonly options: ImagesOptions) {}

  async list(): Promise<readonly Image[]> {
    const { images } = await this.options.connection.call(cri.listImages, {});
    return images.map((image) => seenImage(image, this.options.pauseImage));
  }

  async find(reference: string): Promise<Image | undefined> {
    const { image } = await this.options.connection.call(cri.imageStatus, { image: { image: reference } });
    return image && seenImage(image, this.options.pauseImage);
  }

  async pull(reference: string, credentials: RegistryCredentials | undefined): Promise<string> {
    const { connection } = this.options;
    const request = { image: { image: reference }, auth: credentials };
    const { imageRef } = await connection.call(cri.pullImage, request, PULL_TIMEOUT_MS).catch((error: RuntimeError) => {
      throw pullError(error);
    });
    return imageRef;
  }

  /**
   * Removes an image. containerd removes the names of an image one by one, and follows changes of names at the same
   * time: it may then look for an image that it has just removed, and fail. Another attempt removes the rest.
   */
  async remove(id: string): Promise<void> {
    const remove = () => this.options.connection.call(cri.removeImage, { image: { image: id } });
    await remove().catch(remove);
  }

  async load(archive: string): Promise<readonly string[]> {
    return this.options.load(archive);
  }

  async usage(): Promise<{ bytes: number; directory: string }> {
    const { images } = await this.options.connection.call(cri.imageUsage, {});
    const bytes = images.reduce((sum, { usedBytes = 0 }) => sum + usedBytes, 0);
    return { bytes, directory: images[0]?.directory?.path ?? '' };
  }
}
