import type { KubeObject } from '../../../kinds/kind.ts';

type Metadata = KubeObject['metadata'];

/**
 * What was read from stored bytes, by the bytes, for caches of one process that have the same ones: a test forks one cluster
 * many times. Nobody changes what a cache holds, and it is forgotten with the bytes.
 *
 * What is derived from an object must not be kept for the object alone when it depends on the cluster, as randomness does.
 */
export class SharedObjects {
  readonly #objects = new WeakMap<Buffer, KubeObject>();
  readonly #metadata = new WeakMap<Buffer, Metadata>();

  object(stored: Buffer, read: () => KubeObject): KubeObject {
    return found(this.#objects, stored, read);
  }

  /** Of the object, which is not read for this. */
  metadata(stored: Buffer, read: () => Metadata): Metadata {
    return this.#objects.get(stored)?.metadata ?? found(this.#metadata, stored, read);
  }
}

function found<T extends object>(known: WeakMap<Buffer, T>, stored: Buffer, read: () => T): T {
  let value = known.get(stored);
  if (value === undefined) {
    value = read();
    known.set(stored, value);
  }
  return value;
}
