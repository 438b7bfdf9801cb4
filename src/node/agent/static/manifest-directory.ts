/** Follows the manifest files of a directory. It is read again after a change, and never polled while it is there. */

import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { readManifest } from './manifest.ts';

export interface ManifestDirectoryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly directory: string;
  /** The name of the node. */
  readonly node: string;
  /** Called with all valid pods when they may have changed. */
  readonly onPods: (pods: readonly SeenPod[]) => void;
  /** Called once for each content of a file that is no valid pod. */
  readonly onInvalid: (path: string, error: string) => void;
}

interface KnownFile {
  readonly text: string;
  /** The last valid pod of this file. It stays while the file is invalid, so that a typo stops nothing. */
  readonly pod: SeenPod | undefined;
}

/** Delay before a changed file is read, so that one written in several steps is read once. */
const SETTLE_MS = 100;
/** Until a directory is looked for again that was removed. */
const RETRY_MS = 1_000;

export class ManifestDirectory {
  /** Known files by path. */
  #files: ReadonlyMap<string, KnownFile> = new Map();
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(private readonly options: ManifestDirectoryOptions) {}

  /** Creates the directory if it is missing, and resolves when it has been read. */
  async start(): Promise<void> {
    const { directory, signal } = this.options;
    await makeDirectories(directory);
    signal.addEventListener('abort', () => this.#close(), { once: true });
    await this.#read();
  }

  async stopped(): Promise<void> {
    await this.#reading;
  }

  #close(): void {
    this.#timer?.cancel();
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #readAfter(delay: number): void {
    const { clock, signal } = this.options;
    this.#timer?.cancel();
    if (!signal.aborted) this.#timer = clock.timer(delay, () => void this.#read());
  }

  #read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNow());
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    const { directory, signal, onPods } = this.options;
    if (signal.aborted) return;
    // Before the files are read, so that no change is missed.
    this.#watch();
    const paths = await readdir(directory, { withFileTypes: true }).then(
      (entries) => entries.filter((each) => !each.name.startsWith('.') && !each.isDirectory()).map(({ name }) => name),
      () => undefined,
    );
    if (paths === undefined) this.#watcher = closed(this.#watcher);
    const files = new Map<string, KnownFile>();
    for (const name of (paths ?? []).sort()) await this.#readFile(join(directory, name), files);
    this.#files = files;
    if (signal.aborted) return;
    if (!this.#watcher) this.#readAfter(RETRY_MS);
    onPods([...files.values()].flatMap(({ pod }) => pod ?? []));
  }

  async #readFile(path: string, files: Map<string, KnownFile>): Promise<void> {
    const { node, clock, onInvalid } = this.options;
    const known = this.#files.get(path);
    try {
      const text = await readFile(path, 'utf8');
      if (known?.text === text) {
        files.set(path, known);
        return;
      }
      files.set(path, { text, pod: known?.pod });
      const pod = await readManifest({ path, text, node, seen: timestamp(clock.now()) });
      const other = [...files].find(([, each]) => each.pod && isNamesake(each.pod, pod));
      if (other && other[0] !== path) throw new Error(`${other[0]} has a pod of the same name`);
      files.set(path, { text, pod });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      if (!files.has(path)) files.set(path, known ?? { text: '', pod: undefined });
      onInvalid(path, (error as Error).message);
    }
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      const watcher = watch(this.options.directory, () => this.#readAfter(SETTLE_MS));
      watcher.on('error', () => this.#readAfter(RETRY_MS));
      this.#watcher = watcher;
    } catch {
      // It is not there now.
    }
  }
}

function closed(watcher: FSWatcher | undefined): undefined {
  watcher?.close();
  return undefined;
}

const isNamesake = (a: SeenPod, b: SeenPod) =>
  a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;
