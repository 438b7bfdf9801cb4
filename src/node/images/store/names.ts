/** The names of images: a file for each, so that several processes can add and remove them. */

import { join } from 'node:path';
import { readIfThere } from '../../../base/files/own/files.ts';
import { rm } from '../../../base/files/own/own-files.ts';
import { listIfThere, writeWhole } from './files.ts';
import type { StoreLayout } from './layout.ts';

export interface NamedImage {
  /** The full name, with a tag or a digest. */
  readonly name: string;
  /** The digest of its configuration. */
  readonly id: string;
  /** The digest of its manifest. */
  readonly manifest: string;
  /** The digests of its layers. */
  readonly layers: readonly string[];
  /** Size of its blobs. */
  readonly bytes: number;
  readonly user: string | undefined;
}

export class Names {
  constructor(private readonly layout: StoreLayout) {}

  async get(name: string): Promise<NamedImage | undefined> {
    const text = await readIfThere(this.layout.name(name));
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Ordered by name. */
  async all(): Promise<readonly NamedImage[]> {
    const files = (await listIfThere(this.layout.names())).filter((file) => file.endsWith('.json'));
    const texts = await Promise.all(files.map((file) => readIfThere(join(this.layout.names(), file))));
    const images = texts.flatMap((text): NamedImage[] => (text === undefined ? [] : [JSON.parse(text)]));
    return images.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** `scratch` is a directory of the caller. */
  async set(image: NamedImage, scratch: string): Promise<void> {
    await writeWhole(this.layout.name(image.name), JSON.stringify(image), join(scratch, 'name'));
  }

  async delete(name: string): Promise<void> {
    await rm(this.layout.name(name), { force: true });
  }
}
