/**
 * Gives each caller objects of its own. The direct transport shares objects with the server's cache, which components never
 * change; a test may change what it has read, and send it back.
 */
import { clone } from '../../base/json/tree.ts';
import type { Answer, RawEvent, Transport, WatchStream } from '../../client/transport/transport.ts';

export function copyingTransport(shared: Transport): Transport {
  return {
    call: async (request) => copiedAnswer(await shared.call(request)),
    watch: async (request) => copiedStream(await shared.watch(request)),
  };
}

function copiedAnswer(answer: Answer): Answer {
  switch (answer.type) {
    case 'object':
      return { ...answer, object: clone(answer.object) };
    case 'list':
      return { ...answer, items: answer.items.map(clone) };
    case 'status':
      return answer;
  }
}

function copiedStream(stream: WatchStream): WatchStream {
  return {
    close: () => stream.close(),
    [Symbol.asyncIterator]: () => copiedBatches(stream),
  };
}

async function* copiedBatches(stream: WatchStream): AsyncGenerator<readonly RawEvent[]> {
  for await (const batch of stream) yield batch.map(({ type, object }) => ({ type, object: clone(object) }));
}
