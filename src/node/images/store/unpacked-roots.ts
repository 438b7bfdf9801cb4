/** The unpacked files of images. */

import { join } from 'node:path';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import { createReadStream, makeDirectory, rename } from '../../../base/files/own/own-files.ts';
import { processIdentity } from '../../../base/programs/process-identity.ts';
import { decompressed } from '../content/decompress.ts';
import { checkDigest, Digester } from '../content/digest.ts';
import { withinRoom } from '../content/disk-room.ts';
import { applyDeletions, applyLayer, type UnpackOptions } from '../unpack/apply-layer.ts';
import { listIfThere, writeWhole } from './files.ts';
import { Ingest } from './ingest.ts';
import type { StoreLayout } from './layout.ts';

interface RootInfo {
  readonly bytes: number;
  /** The boot of the machine at which it was unpacked. */
  readonly boot: string;
}

interface Layer {
  readonly digest: string;
  /** The digest of the uncompressed layer. */
  readonly diffId: string;
}

const FILES = 'files';
/** Mode of the root of an image, unless the image sets another one. */
const FILES_MODE = 0o755;
const INFO = 'info.json';

export class UnpackedRoots {
  readonly #unpacking = new Map<string, Promise<string>>();

  constructor(
    private readonly layout: StoreLayout,
    private readonly options: UnpackOptions,
  ) {}

  /** Returns the directory with the files of an image. Concurrent calls share the work. */
  unpack(imageId: string, layers: readonly Layer[]): Promise<string> {
    return getOrInsert(this.#unpacking, imageId, () =>
      this.#unpack(imageId, layers).finally(() => this.#unpacking.delete(imageId)),
    );
  }

  async bytes(): Promise<number> {
    const names = await listIfThere(this.layout.roots());
    const infos = await Promise.all(names.map((name) => this.#info(join(this.layout.roots(), name))));
    return infos.reduce((sum, info) => sum + (info?.bytes ?? 0), 0);
  }

  async #unpack(imageId: string, layers: readonly Layer[]): Promise<string> {
    const root = this.layout.root(imageId);
    const { boot } = await processIdentity(process.pid);
    // After a power cut, files may be empty that were not flushed: files that an earlier boot unpacked are not trusted.
    if ((await this.#info(root))?.boot === boot) return join(root, FILES);
    await Ingest.run(this.layout, async (ingest) => {
      const draft = ingest.draft();
      const files = join(draft, FILES);
      await makeDirectory(files, FILES_MODE);
      const bytes = await this.#apply(files, layers);
      await writeWhole(join(draft, INFO), JSON.stringify({ bytes, boot } satisfies RootInfo), ingest.draft());
      await this.#replace(root, draft, ingest.draft(), boot);
    });
    return join(root, FILES);
  }

  async #apply(files: string, layers: readonly Layer[]): Promise<number> {
    let bytes = 0;
    for (const [position, { digest, diffId }] of layers.entries()) {
      const blob = this.layout.blob(digest);
      const content = () => withinRoom(decompressed(createReadStream(blob)), files, `layer ${digest}`);
      if (position > 0) await applyDeletions(files, content());
      const digester = new Digester();
      bytes += await applyLayer(files, digested(content(), digester), this.options);
      checkDigest(`layer ${digest}`, digester.digest(), diffId);
    }
    return bytes;
  }

  /**
   * Replaces files. Another process may have unpacked the same image: then its files stay, which containers may use
   * already.
   */
  async #replace(root: string, draft: string, old: string, boot: string): Promise<void> {
    for (;;) {
      try {
        await rename(draft, root);
        return;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      }
      if ((await this.#info(root))?.boot === boot) return;
      await rename(root, old);
    }
  }

  /** The caller has made sure that no container uses it. */
  async remove(imageId: string): Promise<void> {
    await Ingest.run(this.layout, async (ingest) => {
      const old = ingest.draft();
      await rename(this.layout.root(imageId), old).catch(() => {});
      await removeTree(old);
    });
  }

  async #info(root: string): Promise<RootInfo | undefined> {
    const text = await readIfThere(join(root, INFO));
    return text === undefined ? undefined : JSON.parse(text);
  }
}

async function* digested(source: AsyncIterable<Buffer>, digester: Digester): AsyncGenerator<Buffer> {
  for await (const part of source) {
    digester.update(part);
    yield part;
  }
}
