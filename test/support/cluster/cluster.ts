/**
 * The real server, client and controllers in this process, on a store in memory and with a controlled clock. Every
 * component acts as its own user with the default roles; `stop` fails when one of them was denied a call.
 */
import { generateKeyPairSync } from 'node:crypto';
import { ApiError } from '../../../src/api/errors.ts';
import type { WatchConsumer, WatchReply } from '../../../src/api/reply.ts';
import type { User } from '../../../src/api/user.ts';
import { Cleanup } from '../../../src/assembly/cleanup.ts';
import { SCHEDULER as SCHEDULER_NAME } from '../../../src/assembly/control-plane/components.ts';
import type { NodeConnections } from '../../../src/assembly/control-plane/node-connections.ts';
import { startControlPlane } from '../../../src/assembly/control-plane/start-control-plane.ts';
import { type LogFields, silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { ControlledClock } from '../../../src/base/time/clock.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { SCHEDULER } from '../../../src/client/component-users.ts';
import { directTransport } from '../../../src/client/transport/direct-transport.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import { issue, newIssuer } from '../../../src/protocols/x509/certificate.ts';
import type { Server, ServerOptions } from '../../../src/server/index.ts';
import type { DirectHandle } from '../../../src/server/serving/direct.ts';
import { MemoryStore } from '../../../src/store/memory/memory-store.ts';

const DAY_MS = 86_400_000;
const ADMIN = { name: 'admin', groups: ['system:masters'] };

export const AUTHORITY = '-----BEGIN CERTIFICATE-----\nthe cluster\n-----END CERTIFICATE-----\n';

export interface Cluster {
  readonly server: Server;
  /** Nodes of this process are added. */
  readonly nodes: NodeConnections;
  /** Runs when the cluster is stopped. */
  readonly cleanup: Cleanup;
  /** Client of the administrator, over a connection that never breaks. */
  readonly client: Client;
  readonly clock: ControlledClock;
  /** The way into the server for a component; denied calls are recorded in `rejections`. */
  readonly directFor: (user: User) => DirectHandle;
  /** Acts as a component; denied calls are recorded in `rejections`. */
  readonly clientFor: (user: User) => Client;
  /** Link between the controllers and the server. */
  readonly link: Link;
  /** Denied calls of components. A test that expects some removes them. */
  readonly rejections: string[];
  /** Warnings and errors that the controllers logged. */
  readonly complaints: LogFields[];
  /** Advances the clock until the condition holds. */
  eventually(condition: () => Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

interface TestClusterOptions extends Pick<ServerOptions, 'admission' | 'aggregation' | 'dialGuard' | 'frontProxy'> {
  /** Whether the scheduler runs. */
  readonly schedules?: boolean;
}

export async function startCluster({ schedules = false, ...api }: TestClusterOptions = {}): Promise<Cluster> {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const complaints: LogFields[] = [];
  const complain = (message: string, fields: LogFields = {}) => void complaints.push({ message, ...fields });
  const log = { ...silent, with: () => log, warn: complain, error: complain };
  const cleanup = new Cleanup();
  cleanup.add(() => store.close());
  const plane = await startControlPlane({
    ...{ clock, random: systemRandom, log, cleanup },
    api: {
      ...{ store, kinds: allKinds, freeze: true, garbageCollection: true },
      ...{ authorization: ['Node', 'RBAC'], defaultRoles: true, ...api },
    },
    components: {
      runs: (name) => schedules || name !== SCHEDULER_NAME,
      facts: { reservedNames: ['kubernetes.default.svc'], server: 'https://192.0.2.1:6443' },
      keys: {
        authority: AUTHORITY,
        signCertificate: async () => anyCertificate(clock.now()),
        mintToken: async ({ namespace, name, uid, secretName }) => `token ${namespace}/${name} ${uid} ${secretName}`,
      },
    },
  });
  const { server, nodes } = plane;
  const rejections: string[] = [];
  const directFor = (user: User): DirectHandle => noting(server.direct(user), rejections);
  const link = new Link();
  const linked = (user: User) => (user === SCHEDULER ? directFor(user) : link.through(directFor(user)));
  plane.startComponents({ ...server, direct: linked });
  return {
    ...{ server, nodes, cleanup },
    client: createClient(directTransport(server.direct(ADMIN))),
    directFor,
    clientFor: (user) => createClient(directTransport(directFor(user))),
    clock,
    link,
    rejections,
    complaints,
    async eventually(condition) {
      for (let tries = 0; tries < 200; tries++) {
        if (await condition()) return;
        await clock.advance(100);
      }
      throw new Error('it did not happen within 20 seconds of the clock');
    },
    async stop() {
      await cleanup.run();
      if (rejections.length > 0) throw new Error(`components were rejected:\n${rejections.join('\n')}`);
    },
  };
}

/** A certificate that is valid for a day; its content does not matter. Made at once: the clock does not wait for threads. */
function anyCertificate(now: number): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const subject = { commonName: 'any' };
  const validity = { notBefore: now - DAY_MS, notAfter: now + DAY_MS };
  return issue({ subject, publicKey, usage: 'client', ...validity }, newIssuer(subject, privateKey), systemRandom);
}

/**
 * Messages of the authorizer, node restriction, certificate approval, owner references and escalation for missing
 * rights.
 */
const REFUSAL =
  / User "[^"]*" cannot |: node "[^"]*" |user not permitted to|cannot set blockOwnerDeletion|not currently held/;

function noting(handle: DirectHandle, rejections: string[]): DirectHandle {
  return (call) =>
    handle(call).catch((error: Error) => {
      if (REFUSAL.test(error.message)) rejections.push(error.message);
      throw error;
    });
}

/** A connection that can be interrupted. */
class Link {
  /** Returns the error that a call fails with; undefined: it reaches the server. */
  fault: ((call: Parameters<DirectHandle>[0]) => Error | undefined) | undefined;
  readonly #watches = new Set<() => void>();
  #isCut = false;

  through(handle: DirectHandle): DirectHandle {
    return async (call) => {
      if (this.#isCut) throw new ApiError('ServiceUnavailable', 'the connection is cut');
      const error = this.fault?.(call);
      if (error) throw error;
      const reply = await handle(call);
      return reply.type === 'watch' ? this.#follow(reply) : reply;
    };
  }

  /** Ends all watches, and rejects all calls until `mend`. */
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
