import type { User } from '../../api/user.ts';
import { clone } from '../../base/json/tree.ts';
import { createClient } from '../../client/client.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import type { Answer, RawEvent, Transport, WatchStream } from '../../client/transport/transport.ts';
import type { DirectHandle } from '../../server/serving/direct.ts';
import type { Client, Resource } from '../contract.ts';
import type { Kinds } from './kinds.ts';
import { tracedCalls } from './traced-calls.ts';

const AUTHENTICATED = 'system:authenticated';

export const ADMIN: User = { name: 'admin', groups: ['system:masters', AUTHENTICATED] };

/** The API for a test: kinds are found by name. */
export function testClient(kinds: Kinds, directFor: (user: User) => DirectHandle, user: User = ADMIN): Client {
  const client = createClient(copyingTransport(directTransport(tracedCalls(directFor(user)))));
  return {
    of(name, apiVersion) {
      const { kind, version } = kinds.named(name, apiVersion);
      // The contract names what a test may use of it.
      return client.of(kind, version.apiVersion) as unknown as Resource;
    },
    as: (name, groups = []) => testClient(kinds, directFor, { name, groups: [...groups, AUTHENTICATED] }),
  };
}

function copyingTransport(shared: Transport): Transport {
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
