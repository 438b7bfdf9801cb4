/** The images of a node that has no container engine: in a directory, unpacked for the process runtime. */
import type { Images } from '../runtime/runtime.ts';
import type { ImageConfig } from './image-config.ts';

export interface ImageStore extends Images {
  /** Rejects with a RuntimeError of code `NotFound`. */
  config(imageId: string): Promise<ImageConfig>;
  /**
   * Returns the directory with the files of an image, which is unpacked on first use. All containers share it: they
   * must not write to it.
   */
  unpack(imageId: string): Promise<string>;
  /**
   * Returns a directory with the same files for a user namespace whose root is the user `base` on the node: only
   * owners, to be mounted above those of `unpack`. It must not be written to.
   */
  shiftedLayer(imageId: string, base: number): Promise<string>;
  /**
   * Gives a container its own root in `directory`, which belongs to the container. Idempotent: after a reboot it mounts
   * the existing root again, with everything that the container wrote. An image is kept while a root of it exists.
   */
  createRoot(imageId: string, directory: string): Promise<ContainerRoot>;
  /** Unmounts the root in `directory` and removes its files. Idempotent. */
  removeRoot(directory: string): Promise<void>;
}

export interface ContainerRoot {
  /** Absolute path of the root directory. */
  readonly path: string;
  /**
   * Directory that the container's writes go to: its size is that of the writable layer. Equal to `path` when it is a
   * copy.
   */
  readonly writable: string;
}
