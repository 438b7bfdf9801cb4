import { describe, expect, it } from 'vitest';
import type { RawEvent, WatchStream } from '../../client/transport/transport.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { type Ends, replay } from './replay.ts';

const version = (resourceVersion: number) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', resourceVersion: `${resourceVersion}` },
  }) as KubeObject;
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', resourceVersion: number): RawEvent => {
  return { type, object: version(resourceVersion) };
};

/** A server that sends, for each attempt, these batches. Returns the versions that were read, and how often it was asked. */
async function read(ends: Partial<Ends>, ...attempts: readonly (readonly RawEvent[])[][]) {
  let asked = 0;
  const watch = async (): Promise<WatchStream> => {
    const batches = attempts[asked++] ?? [];
    return {
      close: () => {},
      async *[Symbol.asyncIterator]() {
        yield* batches;
      },
    };
  };
  const events = await replay({ first: undefined, now: undefined, ...ends }, watch);
  return { versions: events.map(({ object }) => Number(object.metadata.resourceVersion)), asked };
}

describe('what happened to an object', () => {
  it('is nothing when it is as at the beginning: the server is not asked', async () => {
    expect(await read({ first: version(3), now: version(3) })).toEqual({ versions: [], asked: 0 });
  });

  it('is complete with its present version', async () => {
    const batches = [[event('ADDED', 4)], [event('MODIFIED', 5)], [event('MODIFIED', 6)]];
    expect(await read({ now: version(5) }, batches)).toEqual({ versions: [4, 5], asked: 1 });
  });

  it('is read again when the server was too busy to send all of it', async () => {
    const all = [event('ADDED', 4), event('MODIFIED', 5)];
    expect(await read({ now: version(5) }, [[event('ADDED', 4)]], [all])).toEqual({ versions: [4, 5], asked: 2 });
    const gone = [event('MODIFIED', 4), event('DELETED', 5)];
    expect(await read({ first: version(3) }, [], [], [gone])).toEqual({ versions: [4, 5], asked: 3 });
  });

  it('goes on behind a deletion: the object may have come back, and gone again', async () => {
    const batches = [[event('DELETED', 4)], [event('ADDED', 5), event('DELETED', 6)]];
    expect(await read({ first: version(3) }, batches)).toEqual({ versions: [4, 5, 6], asked: 1 });
  });

  it('is nothing for an object that never was, after another look', async () => {
    expect(await read({}, [], [])).toEqual({ versions: [], asked: 2 });
    expect(await read({}, [], [[event('ADDED', 4), event('DELETED', 5)]])).toEqual({ versions: [4, 5], asked: 2 });
  });

  it('is an error when the server does not send it', async () => {
    await expect(read({ first: version(3) })).rejects.toThrow('too busy to send the history');
  });
});
