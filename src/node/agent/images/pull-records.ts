/**
 * Remembers with which credentials images were pulled, so that a pod without them does not use an image of a private registry
 * only because another pod has brought it to the node. Images that nobody pulled, for example loaded ones, are for everyone.
 */

import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { readFile, rename, writeFile } from '../../../base/files/own/own-files.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';

interface Records {
  /** Hashes of credentials, or everyone, by image id and then by repository. */
  readonly pulled: Record<string, Record<string, 'everyone' | string[]>>;
  /** Names of images whose pull with credentials has begun: what is found after a crash is not for everyone. */
  readonly intents: string[];
}

/** The oldest are forgotten; their images are pulled again by pods with credentials. */
const MAX_IMAGES = 2_000;
const MAX_CREDENTIALS = 100;

export type Access = 'everyone' | 'nobody' | { readonly hashes: readonly string[] };

export class PullRecords {
  #records: Promise<Records> | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** Undefined: they are not kept. */
  constructor(private readonly file: string | undefined) {}

  /** Who may use an image that is on the node under this name. */
  async access(image: string, imageId: string): Promise<Access> {
    const { pulled, intents } = await this.#load();
    const byRepository = pulled[imageId];
    if (!byRepository) return intents.includes(image) ? 'nobody' : 'everyone';
    // An image that everyone can pull under one name is no secret under another.
    if (Object.values(byRepository).includes('everyone')) return 'everyone';
    const known = byRepository[repositoryOf(image)];
    if (known === undefined) return 'nobody';
    return known === 'everyone' ? known : { hashes: known };
  }

  /** Call it before a pull with credentials. */
  async begin(image: string): Promise<void> {
    const { intents } = await this.#load();
    if (intents.includes(image)) return;
    intents.push(image);
    await this.#save();
  }

  /** Call it after a pull; without an id, it has failed. */
  async end(image: string, imageId: string | undefined, credentials: RegistryCredentials | undefined): Promise<void> {
    const { pulled, intents } = await this.#load();
    const intent = intents.indexOf(image);
    if (intent >= 0) intents.splice(intent, 1);
    const isChanged = imageId !== undefined && this.#add(pulled, { image, imageId, credentials });
    if (isChanged || intent >= 0) await this.#save();
  }

  #add(
    pulled: Records['pulled'],
    { image, imageId, credentials }: { image: string; imageId: string; credentials: RegistryCredentials | undefined },
  ): boolean {
    const byRepository = pulled[imageId] ?? {};
    const repository = repositoryOf(image);
    const known = byRepository[repository];
    if (known === 'everyone') return false;
    const hash = credentials && hashOf(credentials);
    if (hash !== undefined && known?.includes(hash)) return false;
    byRepository[repository] = hash === undefined ? 'everyone' : [...(known ?? []), hash].slice(-MAX_CREDENTIALS);
    delete pulled[imageId];
    pulled[imageId] = byRepository;
    for (const oldest of Object.keys(pulled).slice(0, -MAX_IMAGES)) delete pulled[oldest];
    return true;
  }

  #load(): Promise<Records> {
    this.#records ??= this.#read();
    return this.#records;
  }

  async #read(): Promise<Records> {
    const text = this.file === undefined ? undefined : await readFile(this.file, 'utf8').catch(() => undefined);
    return text === undefined ? { pulled: {}, intents: [] } : (JSON.parse(text) as Records);
  }

  async #save(): Promise<void> {
    const file = this.file;
    if (file === undefined) return;
    const text = JSON.stringify(await this.#load());
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        await makeDirectories(dirname(file), 0o700);
        await writeFile(`${file}.new`, text, { mode: 0o600 });
        await rename(`${file}.new`, file);
      });
    await this.#writing;
  }
}

export function hashOf({ username, password, identityToken = '', registryToken = '' }: RegistryCredentials): string {
  return createHash('sha256')
    .update(JSON.stringify([username, password, identityToken, registryToken]))
    .digest('hex');
}

/** Without tag and digest. */
const repositoryOf = (image: string): string => image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
