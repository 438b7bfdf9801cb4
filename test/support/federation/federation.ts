/** A federation API server, its controllers and member clusters in this process, all on one controlled clock. */

import { ApiError } from '../../../src/api/errors.ts';
import { Cleanup } from '../../../src/assembly/cleanup.ts';
import { startFederation as startFederationServer } from '../../../src/assembly/federation/start-federation.ts';
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { ControlledClock } from '../../../src/base/time/clock.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { directTransport } from '../../../src/client/transport/direct-transport.ts';
import type { Answer, Transport } from '../../../src/client/transport/transport.ts';
import { type FederationOptions, runFederation } from '../../../src/federation/controllers/run.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import { Namespace } from '../../../src/kinds/groups/core/namespace.ts';
import { Cluster } from '../../../src/kinds/groups/federation/cluster.ts';
import type { Kind } from '../../../src/kinds/kind.ts';
import { createServer, type Server } from '../../../src/server/index.ts';
import { MemoryStore } from '../../../src/store/memory/memory-store.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const PERIOD_MS = 1_000;
const DOWN_AFTER_MS = 5_000;
const WRITES = new Set(['create', 'update']);

interface TestMember {
  readonly client: Client;
  /** Makes the cluster unreachable for the federation, until it is called with false. */
  cut(isCut: boolean): void;
  /** Makes writes to the cluster wait without an answer, until it is called with false. */
  hang(isHung: boolean): void;
  /** Answers lists of a resource in place of the cluster, until it is called without an answer. */
  answer(plural: string, answer?: () => Promise<Answer>): void;
}

export interface TestFederation {
  readonly client: Client;
  readonly members: ReadonlyMap<string, TestMember>;
  readonly clock: ControlledClock;
  /** Joins another cluster. */
  join(name: string, labels?: Record<string, string>, kinds?: readonly Kind[]): Promise<TestMember>;
  /** Ends the controllers and starts them again. */
  restart(): Promise<void>;
  /** Advances the clock until the condition holds. */
  eventually(condition: () => Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

interface TestFederationOptions extends Pick<FederationOptions, 'dns' | 'maxCacheBytes' | 'propagates'> {
  readonly extraKinds?: readonly Kind[];
}

/**
 * Starts a federation with a namespace `x`, which is propagated. Members have `extraKinds`, too; with `dns`, names of
 * services are published.
 */
export async function startFederation(
  names: readonly string[],
  { extraKinds = [], ...options }: TestFederationOptions = {},
): Promise<TestFederation> {
  const clock = new ControlledClock();
  const servers: { server: Server; store: MemoryStore }[] = [];
  const open = async (kinds: readonly Kind[]) => {
    const store = new MemoryStore({ clock });
    const server = await createServer({ store, kinds, clock, freeze: true, garbageCollection: true });
    servers.push({ server, store });
    return { transport: directTransport(server.direct(ADMIN)) };
  };
  const end = new AbortController();
  const cleanup = new Cleanup();
  const store = new MemoryStore({ clock });
  cleanup.add(() => store.close());
  const { server: apiServer } = await startFederationServer({
    ...{ clock, random: systemRandom, log: silent, cleanup, signal: end.signal, api: { store, freeze: true } },
  });
  const client = createClient(directTransport(apiServer.direct(ADMIN)));
  const members = new Map<string, TestMember & { transport: Transport }>();
  let stop = new AbortController();
  const start = () =>
    runFederation({
      ...{ client, clock, random: systemRandom, log: silent, signal: stop.signal },
      ...{ periodMs: PERIOD_MS, timeoutMs: 500, downAfterMs: DOWN_AFTER_MS, unschedulableAfterMs: 10_000 },
      ...options,
      connect: async ({ metadata }) => ({
        client: createClient(members.get(metadata.name ?? '')!.transport),
        close: () => undefined,
      }),
    });
  let running = start();
  const federation: TestFederation = {
    ...{ client, clock, members },
    async join(name, labels = {}, kinds = [...allKinds, ...extraKinds]) {
      const { transport } = await open(kinds);
      let isCut = false;
      let isHung = false;
      const answers = new Map<string, () => Promise<Answer>>();
      const ends = new Set<AbortController>();
      const guard = () => {
        if (isCut) throw new ApiError('ServiceUnavailable', `${name} is cut off`);
      };
      const member = {
        client: createClient(transport),
        cut: (next: boolean) => {
          isCut = next;
          if (isCut) for (const end of ends) end.abort();
        },
        hang: (next: boolean) => {
          isHung = next;
        },
        answer: (plural: string, answer?: () => Promise<Answer>) => {
          if (answer) answers.set(plural, answer);
          else answers.delete(plural);
        },
        transport: {
          call: async (request) => {
            guard();
            if (isHung && WRITES.has(request.verb)) await untilAborted(request.signal!);
            const answer = request.verb === 'list' ? answers.get(request.plural) : undefined;
            return answer ? answer() : transport.call(request);
          },
          watch: async (request) => {
            guard();
            const end = new AbortController();
            ends.add(end);
            const signal = AbortSignal.any([end.signal, ...(request.signal ? [request.signal] : [])]);
            return transport.watch({ ...request, signal });
          },
        } as Transport,
      };
      members.set(name, member);
      await client.of(Cluster).create({ metadata: { name, labels } });
      return member;
    },
    async restart() {
      stop.abort();
      await running;
      stop = new AbortController();
      running = start();
    },
    async eventually(condition) {
      for (let tries = 0; tries < 300; tries++) {
        if (await condition()) return;
        await clock.advance(100);
      }
      throw new Error('it did not happen within 30 seconds of the clock');
    },
    async stop() {
      stop.abort();
      await running;
      end.abort();
      await cleanup.run();
      for (const { server, store } of servers) {
        server.close();
        await store.close();
      }
    },
  };
  for (const name of names) await federation.join(name);
  await client.of(Namespace).create({ metadata: { name: 'x' } });
  return federation;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
