/** A place for backups in memory. */
import { buffer } from 'node:stream/consumers';
import type { BackupTarget, TargetFile } from '../../../src/backup/target.ts';

export class MemoryTarget implements BackupTarget {
  readonly name = 'memory';
  readonly files = new Map<string, Buffer>();
  /** Fails each call while it is set. */
  problem: Error | undefined;

  async list(): Promise<readonly TargetFile[]> {
    this.#check();
    return [...this.files].sort().map(([name, { length: bytes }]) => ({ name, bytes, modified: 0 }));
  }

  async put(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#check();
    this.files.set(name, await buffer(content));
  }

  async *get(name: string): AsyncGenerator<Uint8Array> {
    this.#check();
    yield this.files.get(name)!;
  }

  async remove(name: string): Promise<void> {
    this.#check();
    this.files.delete(name);
  }

  async tidy(): Promise<void> {
    this.#check();
  }

  #check(): void {
    if (this.problem) throw this.problem;
  }
}
