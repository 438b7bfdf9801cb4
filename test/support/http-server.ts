import { MessageChannel } from 'node:worker_threads';
import type { Call, Handle } from '../../src/api/call.ts';
import { notFound, type Status } from '../../src/api/errors.ts';
import type { ListedItem, Reply, WatchBatch, WatchConsumer, WatchReply } from '../../src/api/reply.ts';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { defineKind, type KubeObject } from '../../src/kinds/kind.ts';
import { createAuthenticator } from '../../src/server/access/authn/authenticator.ts';
import { tokenFile } from '../../src/server/access/authn/files/token-file.ts';
import { alwaysAllow } from '../../src/server/access/authz/modes.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { BackendRegistry } from '../../src/server/serving/backends/backend-registry.ts';
import { serveFront } from '../../src/server/serving/http/front/front-thread.ts';
import { remoteListeners } from '../../src/server/serving/http/front/remote-listeners.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../src/server/serving/http/server.ts';
import { type TestAuthority, testAuthority } from './tls.ts';

/** Kinds of every shape that a path can have, without fields. */
export function smallRegistry(): Registry {
  const base = { description: 'For tests.', fields: {} };
  const older = { subresources: { rollback: true } } as const;
  const kinds = [
    defineKind({
      ...base,
      kind: 'Pod',
      short: ['po'],
      categories: ['all'],
      scope: 'Namespaced',
      versions: { v1: {} },
      subresources: { status: true, binding: true, eviction: true, log: true },
    }),
    defineKind({
      ...base,
      kind: 'Namespace',
      short: ['ns'],
      scope: 'Cluster',
      versions: { v1: {} },
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      subresources: { status: true, finalize: true },
    }),
    defineKind({ ...base, kind: 'Node', scope: 'Cluster', versions: { v1: {} } }),
    defineKind({
      ...base,
      kind: 'Binding',
      scope: 'Namespaced',
      versions: { v1: {} },
      verbs: ['create'],
    }),
    defineKind({
      ...base,
      kind: 'Deployment',
      short: ['deploy'],
      categories: ['all'],
      scope: 'Namespaced',
      versions: { 'apps/v1': {}, 'apps/v1beta1': older, 'extensions/v1beta1': older },
      subresources: {
        status: true,
        scale: { replicas: 'spec.replicas', observed: 'status.replicas', selector: 'spec.selector' },
      },
    }),
  ];
  return new Registry(kinds, allSubresources);
}

/** Stands in for the core: records calls, and answers as the test says, or with the object itself. */
class FakeCore {
  readonly calls: Call[] = [];
  readonly watches: FakeWatch[] = [];
  answer: ((...asked: Parameters<Handle>) => Reply | Promise<Reply>) | undefined;

  readonly handle: Handle = async (call, notes) => {
    this.calls.push(Object.freeze(call));
    return this.answer ? this.answer(call, notes) : this.ordinary(call);
  };

  get lastCall(): Call {
    const call = this.calls.at(-1);
    if (!call) throw new Error('nothing was called');
    return call;
  }

  /** Returns the answer that applies unless the test sets one. */
  ordinary(call: Call): Reply {
    switch (call.verb) {
      case 'list':
        return listOf([objectNamed('one'), objectNamed('two')]);
      case 'watch': {
        const watch = new FakeWatch();
        this.watches.push(watch);
        return watch;
      }
      case 'delete':
      case 'deletecollection':
        return { type: 'status', status: SUCCESS };
      case 'create':
      case 'update':
      case 'patch':
        return { type: 'object', item: itemOf((call.body ?? {}) as KubeObject) };
      case 'get':
        if (call.name === 'missing') throw notFound({ group: '', plural: call.plural }, call.name);
        return { type: 'object', item: itemOf(objectNamed(call.name ?? '')) };
    }
  }
}

const SUCCESS: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 };

export function objectNamed(name: string): KubeObject {
  return { kind: 'Pod', apiVersion: 'v1', metadata: { name } } as KubeObject;
}

export function itemOf(object: KubeObject): ListedItem {
  return { object, metadata: object.metadata, size: 0, json: () => Buffer.from(JSON.stringify(object)) };
}

export function listOf(items: readonly KubeObject[]): Reply {
  const list = { kind: 'PodList', apiVersion: 'v1', metadata: { selfLink: '', resourceVersion: '7' } };
  return {
    type: 'list',
    ...list,
    items: items.map(itemOf),
    json: () => Buffer.from(JSON.stringify({ ...list, items })),
    decode: () => undefined,
    encode: () => undefined,
    readInTurns: (all, read) => void all.forEach(read),
    protobuf: undefined,
    gzip: undefined,
  };
}

export class FakeWatch implements WatchReply {
  readonly type = 'watch';
  consumer: WatchConsumer | undefined;
  stopped = false;
  #attached = () => {};
  #stopped = () => {};
  readonly whenAttached = new Promise<void>((resolve) => {
    this.#attached = resolve;
  });
  readonly whenStopped = new Promise<void>((resolve) => {
    this.#stopped = resolve;
  });

  attach(consumer: WatchConsumer): void {
    this.consumer = consumer;
    this.#attached();
  }

  stop(): void {
    this.stopped = true;
    this.#stopped();
  }
}

export function batchOf(...names: string[]): WatchBatch {
  const events = names.map((name) => {
    const object = objectNamed(name);
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    return { type: 'ADDED' as const, object, json: () => bytes };
  });
  return { events, json: () => Buffer.concat(events.map((event) => event.json())) };
}

export const TOKEN = 'a-token';

export interface RunningServer {
  readonly server: HttpServer;
  readonly core: FakeCore;
  readonly registry: Registry;
  readonly authority: TestAuthority;
  readonly port: number;
}

export type StartServer = (options?: Partial<HttpServerOptions>) => Promise<RunningServer>;

/** Works like `startServer`, but the sockets are reached through messages, as when they are in a separate thread. */
export const startWithFrontThread: StartServer = (options) =>
  startServer({
    open: (listening) => {
      const { port1, port2 } = new MessageChannel();
      for (const port of [port1, port2]) port.unref();
      serveFront(port1, listening.clock);
      return remoteListeners(port2, listening);
    },
    ...options,
  });

/** A listening server on loopback in front of a FakeCore. */
export async function startServer(options: Partial<HttpServerOptions> = {}): Promise<RunningServer> {
  const authority = await testAuthority();
  const core = new FakeCore();
  const registry = smallRegistry();
  const server = createHttpServer({
    handle: core.handle,
    registry,
    backends: new BackendRegistry(options.registry ?? registry),
    tls: { ...(await authority.server()), ca: authority.ca },
    authenticate: createAuthenticator({
      clock: systemClock,
      tokens: [tokenFile(`${TOKEN},alice,1,"developers,testers"`)],
      anonymous: false,
    }),
    authorizer: alwaysAllow,
    log: silent,
    clock: systemClock,
    version: {
      major: '1',
      minor: '36',
      gitVersion: 'v1.36.4+quarterdeck',
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '2030-01-01T00:00:00Z',
      goVersion: 'none',
      compiler: 'none',
      platform: 'linux/arm64',
    },
    isReady: () => true,
    ...options,
  });
  const { port } = await server.listen(0, '127.0.0.1');
  return { server, core, registry, authority, port };
}
