/** The real server, client and controllers in this process, on a store in memory and with a clock that stands still. */
import { ControlledClock } from '../../../src/base/clock.ts';
import { ApiError } from '../../../src/base/errors.ts';
import { type LogFields, silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { InformerFactory } from '../../../src/client/informer/informer-factory.ts';
import { directTransport } from '../../../src/client/transport/direct-transport.ts';
import { allControllers } from '../../../src/controllers/all.ts';
import { runControllers } from '../../../src/controllers/loop/loop.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import type { Call, Handle, WatchConsumer, WatchReply } from '../../../src/server/api.ts';
import { createServer, type Server, type ServerOptions } from '../../../src/server/index.ts';
import { MemoryStore } from '../../../src/store/memory/memory-store.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const CONTROLLERS = { name: 'system:kube-controller-manager', groups: ['system:masters'] };

export const AUTHORITY = '-----BEGIN CERTIFICATE-----\nthe cluster\n-----END CERTIFICATE-----\n';

export interface Cluster {
  readonly server: Server;
  /** As the administrator, over a connection that never breaks. */
  readonly client: Client;
  readonly clock: ControlledClock;
  /** Between the controllers and the server. */
  readonly link: Link;
  /** What the controllers logged as a warning or an error. */
  readonly complaints: LogFields[];
  /** Moves time on until the condition holds. */
  eventually(condition: () => Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

export async function startCluster(options: Pick<ServerOptions, 'admission'> = {}): Promise<Cluster> {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const server = await createServer({
    store,
    kinds: allKinds,
    clock,
    freeze: true,
    garbageCollection: true,
    ...options,
  });
  const link = new Link(server.handle);
  const stop = new AbortController();
  const complaints: LogFields[] = [];
  const complain = (message: string, fields: LogFields = {}) => void complaints.push({ message, ...fields });
  const log = { ...silent, with: () => log, warn: complain, error: complain };
  const common = { clock, random: systemRandom, log, signal: stop.signal };
  const own = createClient(directTransport(link.handle, CONTROLLERS));
  const informers = new InformerFactory({ ...common, client: own });
  const controllers = allControllers({
    kinds: () => server.registry.kinds,
    onKindsChange: (listener) => server.registry.onChange(listener),
    authority: AUTHORITY,
    reservedNames: ['kubernetes.default.svc'],
    server: 'https://192.0.2.1:6443',
    signCertificate: async ({ names }) => `certificate with ${names.length} names`,
    mintToken: async ({ namespace, name, uid, secretName }) => `token ${namespace}/${name} ${uid} ${secretName}`,
  });
  const running = runControllers(controllers, { ...common, client: own, informers });
  return {
    server,
    client: createClient(directTransport(server.handle, ADMIN)),
    clock,
    link,
    complaints,
    async eventually(condition) {
      for (let tries = 0; tries < 200; tries++) {
        if (await condition()) return;
        await clock.advance(100);
      }
      throw new Error('it did not happen within 20 seconds of the clock');
    },
    async stop() {
      stop.abort();
      await running;
      await informers.stopped();
      server.close();
      await store.close();
    },
  };
}

/** A connection that can be cut. */
class Link {
  readonly #handle: Handle;
  readonly #watches = new Set<() => void>();
  #isCut = false;

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  readonly handle = async (call: Call) => {
    if (this.#isCut) throw new ApiError('ServiceUnavailable', 'the connection is cut');
    const reply = await this.#handle(call);
    return reply.type === 'watch' ? this.#follow(reply) : reply;
  };

  /** Ends the watches, and nothing gets through until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const end of [...this.#watches]) end();
  }

  mend(): void {
    this.#isCut = false;
  }

  #follow(reply: WatchReply): WatchReply {
    let consumer: WatchConsumer | undefined;
    const end = () => {
      reply.stop();
      this.#watches.delete(end);
      consumer?.end();
    };
    this.#watches.add(end);
    return {
      type: 'watch',
      attach: (attached) => {
        consumer = attached;
        reply.attach(attached);
      },
      stop: () => {
        this.#watches.delete(end);
        reply.stop();
      },
    };
  }
}
