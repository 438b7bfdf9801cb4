import type { KubeObject } from '../../../../kinds/kind.ts';

type Metadata = KubeObject['metadata'];

/**
 * Objects by their stored bytes, for caches of one process with the same content: a test forks one cluster many times.
 * Nobody changes an object in a cache, and it is dropped with the bytes.
 *
 * Data derived from an object must not be cached for the object alone when it depends on the cluster, as randomness
 * does.
 */
export class SharedObjects {
  readonly #objects = new WeakMap<Buffer, KubeObject>();
  readonly #metadata = new WeakMap<Buffer, Metadata>();

  object(stored: Buffer, read: () => KubeObject): KubeObject {
    return found(this.#objects, stored, read);
  }

  /** Returns the metadata of an object without decoding the object. */
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
