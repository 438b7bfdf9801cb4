import type { Status } from '../api/errors.ts';
import type { DeepReadonly } from '../api/object-types.ts';
import type { ObjectMeta } from '../kinds/shapes/meta/object-meta.ts';
import { errorOfStatus } from './status-error.ts';
import type { RawEvent, WatchStream } from './transport/transport.ts';

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: DeepReadonly<T> }
  /** A bookmark: up to its `resourceVersion`, all changes have been sent. */
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: DeepReadonly<ObjectMeta> } };

/** A running watch, for one consumer. An error event of the server is thrown as an ApiError. */
export class Watch<T> implements AsyncIterable<WatchEvent<T>> {
  constructor(private readonly stream: WatchStream) {}

  close(): void {
    this.stream.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void, undefined> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** Events in order, in batches of the waiting ones. */
  async *batches(): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    try {
      for await (const batch of this.stream) {
        const broken = batch.findIndex((event) => event.type === 'ERROR');
        if (broken < 0) yield batch as readonly WatchEvent<T>[];
        else {
          if (broken > 0) yield batch.slice(0, broken) as readonly WatchEvent<T>[];
          throw errorOfStatus((batch[broken] as RawEvent).object as Status);
        }
      }
    } finally {
      this.close();
    }
  }
}
