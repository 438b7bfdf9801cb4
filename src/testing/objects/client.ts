import type { User } from '../../api/user.ts';
import { createClient } from '../../client/client.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import type { DirectHandle } from '../../server/serving/direct.ts';
import type { Client, Resource } from '../contract.ts';
import { copyingTransport } from './copying-transport.ts';
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
