/** A server over a memory store, in this process, with a clock that stands still. */
import { type Call, RequestNotes } from '../../src/api/call.ts';
import type { ListReply, ObjectReply, StatusReply, WatchEvent, WatchReply } from '../../src/api/reply.ts';
import { ControlledClock } from '../../src/base/time/clock.ts';
import type { Kind, KubeObject } from '../../src/kinds/kind.ts';
import { createServer, type Server, type ServerOptions } from '../../src/server/index.ts';
import { connectionByNode, NO_CONNECTION, type NodeConnection } from '../../src/server/outbound/nodes/connection.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import type { Store } from '../../src/store/store.ts';

export type Asked = Partial<Omit<Call, 'verb' | 'plural'>>;

export interface TestServer {
  readonly server: Server;
  readonly store: Store;
  readonly clock: ControlledClock;
  create(plural: string, body: unknown, asked?: Asked): Promise<any>;
  get(plural: string, name: string, asked?: Asked): Promise<any>;
  update(plural: string, body: any, asked?: Asked): Promise<any>;
  patch(plural: string, name: string, body: unknown, asked?: Asked): Promise<any>;
  delete(plural: string, name: string, asked?: Asked): Promise<StatusReply['status']>;
  deleteCollection(plural: string, asked?: Asked): Promise<StatusReply['status']>;
  list(plural: string, asked?: Asked): Promise<ListReply>;
  watch(plural: string, asked?: Asked): Promise<Watched>;
  /** Reaches nodes by this connection from now on. */
  reachNodesBy(connection: NodeConnection): void;
  /** Returns the notes beside the reply to a call. */
  notes(verb: Call['verb'], plural: string, asked: Asked): Promise<RequestNotes>;
}

/** A watch whose events are collected; `next` waits for as many as are wanted. */
interface Watched {
  readonly events: WatchEvent[];
  readonly ended: boolean;
  next(count?: number): Promise<WatchEvent[]>;
  /** Type and name (or message) of everything so far: `ADDED a`. */
  told(): string[];
  stop(): void;
}

const USER = { name: 'tester', groups: ['system:masters'] };

export async function testServer(
  kinds: Iterable<Kind>,
  options: Partial<ServerOptions> & { clock?: ControlledClock } = {},
): Promise<TestServer> {
  const clock = options.clock ?? new ControlledClock();
  const store = options.store ?? new MemoryStore({ clock });
  let connection = NO_CONNECTION;
  const nodes = () => connectionByNode(() => connection);
  const server = await createServer({ kinds, freeze: true, nodes, ...options, store, clock });
  const call = (verb: Call['verb'], plural: string, asked: Asked): Call => ({
    apiVersion: 'v1',
    namespace: 'default',
    user: USER,
    ...asked,
    verb,
    plural,
  });
  const object = async (made: Call): Promise<KubeObject> => {
    const reply = (await server.handle(made)) as ObjectReply | StatusReply;
    if (reply.type === 'status') return reply.status as never;
    return JSON.parse(reply.item.json().toString());
  };
  return {
    server,
    store,
    clock,
    create: (plural, body, asked = {}) => object(call('create', plural, { ...asked, body })),
    get: (plural, name, asked = {}) => object(call('get', plural, { ...asked, name })),
    update: (plural, body, asked = {}) => object(call('update', plural, { name: body.metadata?.name, ...asked, body })),
    patch: (plural, name, body, asked = {}) =>
      object(call('patch', plural, { patchType: 'merge', ...asked, name, body })),
    delete: async (plural, name, asked = {}) =>
      ((await server.handle(call('delete', plural, { ...asked, name }))) as StatusReply).status,
    deleteCollection: async (plural, asked = {}) =>
      ((await server.handle(call('deletecollection', plural, asked))) as StatusReply).status,
    list: async (plural, asked = {}) => (await server.handle(call('list', plural, asked))) as ListReply,
    reachNodesBy(next) {
      connection = next;
    },
    notes: async (verb, plural, asked) => {
      const notes = new RequestNotes();
      await server.handle(call(verb, plural, asked), notes);
      return notes;
    },
    watch: async (plural, asked = {}) => collect((await server.handle(call('watch', plural, asked))) as WatchReply),
  };
}

function collect(reply: WatchReply): Watched {
  const events: WatchEvent[] = [];
  let taken = 0;
  let ended = false;
  let wake = () => {};
  reply.attach({
    events(batch) {
      events.push(...batch.events);
      wake();
    },
    backlog: () => 0,
    end() {
      ended = true;
      wake();
    },
  });
  return {
    events,
    get ended() {
      return ended;
    },
    async next(count = 1) {
      while (events.length < taken + count && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const out = events.slice(taken, taken + count);
      taken += out.length;
      return out;
    },
    told: () =>
      events.map(({ type, object }) =>
        `${type} ${(object as any).metadata.name ?? (object as any).message ?? ''}`.trim(),
      ),
    stop: () => reply.stop(),
  };
}
