/**
 * Small API in memory for the tests of this room and of the controllers: objects, versions, history, and failures on
 * the way (breaks, lost history, rejections). It validates and defaults nothing; tests that depend on the real server are
 * in test/cluster.
 */
import { ApiError, alreadyExists, conflict, notFound, tooOld } from '../../src/api/errors.ts';
import type { KindRef } from '../../src/api/object-types.ts';
import { clone, deepEqual, deepFreeze } from '../../src/base/json/tree.ts';
import type { Answer, RawEvent, Request, Transport, WatchStream } from '../../src/client/transport/transport.ts';
import { WatchPipe } from '../../src/client/transport/watch-pipe.ts';
import { applyMergePatch } from '../../src/schema/patch/merge-patch.ts';

export interface TestObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    [field: string]: any;
  };
  [field: string]: any;
}

interface HistoryEntry {
  readonly revision: number;
  readonly plural: string;
  readonly event: RawEvent & { readonly object: TestObject };
}

interface Watcher {
  readonly request: Request;
  readonly pipe: WatchPipe;
}

/** A kind as small as tests need it. */
export const testKind = <T = TestObject>(plural: string, kind: string, scope: KindRef['scope']): KindRef<T> => ({
  group: '',
  kind,
  plural,
  scope,
  hub: { apiVersion: 'v1' },
});

export class ScriptedApi implements Transport {
  readonly requests: Request[] = [];
  readonly #objects = new Map<string, TestObject>();
  readonly #history: HistoryEntry[] = [];
  readonly #watchers = new Set<Watcher>();
  #reject: ((request: Request) => unknown) | undefined;
  #held: (() => void)[] | undefined;
  /** Starts at 1: a server writes before it serves the first request. */
  #revision = 1;
  #oldest = 1;
  #uids = 0;

  get revision(): number {
    return this.#revision;
  }

  /** Objects on the server, by `plural/namespace/name`. */
  get state(): ReadonlyMap<string, TestObject> {
    return this.#objects;
  }

  list(plural: string, namespace?: string): TestObject[] {
    return [...this.#objects]
      .filter(([key]) => key.startsWith(namespace === undefined ? `${plural}/` : `${plural}/${namespace}/`))
      .map(([, object]) => object);
  }

  get(plural: string, namespace: string, name: string): TestObject | undefined {
    return this.#objects.get(`${plural}/${namespace}/${name}`);
  }

  /** Requests for which this gives an error fail with it. */
  reject(why: ((request: Request) => unknown) | undefined): void {
    this.#reject = why;
  }

  /** Ends every watch: cleanly, or as a broken connection does. */
  disconnect(error?: ApiError): void {
    for (const { pipe } of [...this.#watchers]) pipe.end(error);
  }

  /** Ends every watch, and loses everything on its way. */
  cut(): void {
    for (const { pipe } of [...this.#watchers]) pipe.close();
  }

  /** Sends an error event to every watch and ends it. */
  failWatches(error: ApiError): void {
    for (const { pipe } of [...this.#watchers]) {
      pipe.push([{ type: 'ERROR', object: error.toStatus() }]);
      pipe.end();
    }
  }

  bookmark(): void {
    for (const { pipe, request } of this.#watchers) {
      const metadata = { resourceVersion: String(this.#revision) };
      pipe.push([{ type: 'BOOKMARK', object: { apiVersion: request.apiVersion, kind: '', metadata } }]);
    }
  }

  /** Watchers hear nothing until the returned function is called. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      for (const send of held) send();
    };
  }

  get watching(): number {
    return this.#watchers.size;
  }

  /** Forgets the history up to now. */
  compact(): void {
    this.#oldest = this.#revision;
    this.#history.length = 0;
  }

  /** Everything is gone, and versions start over: a server that began with an empty store. */
  reset(): void {
    this.#objects.clear();
    this.compact();
    this.#revision = this.#oldest = 1;
    this.disconnect();
  }

  /** Stores an object, in the same revision as the one before when `together` is set. */
  put(plural: string, object: any, { together = false } = {}): TestObject {
    const { namespace = '', name } = object.metadata;
    const key = `${plural}/${namespace}/${name}`;
    const old = this.#objects.get(key);
    if (!together) this.#revision++;
    const uid = old?.metadata.uid ?? object.metadata.uid ?? `uid-${++this.#uids}`;
    const stored: TestObject = deepFreeze(
      clone({ ...object, metadata: { ...object.metadata, uid, resourceVersion: String(this.#revision) } }),
    );
    this.#objects.set(key, stored);
    this.#publish(plural, { type: old ? 'MODIFIED' : 'ADDED', object: stored });
    return stored;
  }

  remove(plural: string, namespace: string, name: string): void {
    const key = `${plural}/${namespace}/${name}`;
    const old = this.#objects.get(key);
    if (!old) return;
    this.#revision++;
    this.#objects.delete(key);
    const metadata = { ...old.metadata, resourceVersion: String(this.#revision) };
    this.#publish(plural, { type: 'DELETED', object: deepFreeze({ ...old, metadata }) });
  }

  async call(request: Request): Promise<Answer> {
    this.requests.push(request);
    const rejected = this.#reject?.(request);
    if (rejected) throw rejected;
    request.signal?.throwIfAborted();
    const { plural, namespace = '', name = '' } = request;
    switch (request.verb) {
      case 'get':
        return { type: 'object', object: this.#existing(request) };
      case 'list':
        return this.#page(request);
      case 'create':
        return { type: 'object', object: this.#create(request) };
      case 'update':
        return { type: 'object', object: this.#update(request) };
      case 'patch': {
        const old = this.#existing(request);
        return { type: 'object', object: this.put(plural, applyMergePatch(old, request.body) as TestObject) };
      }
      case 'delete':
        this.#delete(plural, this.#existing(request), request.body);
        break;
      case 'deletecollection':
        for (const object of this.list(plural, namespace)) this.#delete(plural, object, undefined);
        break;
      case 'watch':
        throw new Error('a watch is no call');
    }
    return {
      type: 'status',
      status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name }, code: 200 },
    };
  }

  async watch(request: Request): Promise<WatchStream> {
    this.requests.push(request);
    const rejected = this.#reject?.(request);
    if (rejected) throw rejected;
    const from = Number(request.options?.resourceVersion);
    if (from < this.#oldest) throw tooOld(from, this.#oldest);
    if (from > this.#revision) {
      const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
      throw new ApiError('Timeout', `Too large resource version: ${from}`, { details: { causes } });
    }
    const close = () => pipe.close();
    const pipe = new WatchPipe(() => {
      this.#watchers.delete(watcher);
      request.signal?.removeEventListener('abort', close);
    });
    const watcher = { request, pipe };
    this.#watchers.add(watcher);
    request.signal?.addEventListener('abort', close, { once: true });
    for (const { revision, plural, event } of this.#history) {
      if (revision > from && matches(request, plural, event.object)) pipe.push([event]);
    }
    return pipe;
  }

  #publish(plural: string, event: HistoryEntry['event']): void {
    this.#history.push({ revision: this.#revision, plural, event });
    const watchers = [...this.#watchers].filter(({ request }) => matches(request, plural, event.object));
    const send = () => {
      for (const { pipe } of watchers) pipe.push([event]);
    };
    if (this.#held) this.#held.push(send);
    else send();
  }

  #existing({ plural, namespace = '', name = '' }: Request): TestObject {
    const found = this.get(plural, namespace, name);
    if (!found) throw notFound({ group: '', plural }, name);
    return found;
  }

  #page({ plural, namespace, options = {} }: Request): Answer {
    const all = this.list(plural, namespace);
    const start = Number(options.continue ?? 0);
    const end = options.limit ? start + options.limit : all.length;
    const more = end < all.length ? { continue: String(end) } : {};
    const metadata = { resourceVersion: String(this.#revision), ...more };
    return { type: 'list', metadata, items: all.slice(start, end) };
  }

  #create({ plural, namespace = '', body }: Request): TestObject {
    const object = clone(body as TestObject);
    object.metadata.name ??= `${object.metadata.generateName}${++this.#uids}`;
    if (namespace) object.metadata.namespace = namespace;
    if (this.get(plural, namespace, object.metadata.name)) {
      throw alreadyExists({ group: '', plural }, object.metadata.name);
    }
    return this.put(plural, object);
  }

  #update(request: Request): TestObject {
    const { plural, name = '', subresource } = request;
    const old = this.#existing(request);
    const sent = request.body as TestObject;
    const asked = sent.metadata.resourceVersion;
    if (asked && asked !== old.metadata.resourceVersion) throw conflict({ group: '', plural }, name);
    const object: TestObject =
      subresource === 'status'
        ? { ...old, status: sent.status }
        : subresource === 'finalize'
          ? { ...old, spec: { ...old.spec, finalizers: sent.spec?.finalizers ?? [] } }
          : { ...sent, ...(old.status ? { status: old.status } : {}) };
    if (deepEqual(object, old)) return old;
    const stored = this.put(plural, object);
    if (stored.metadata.deletionTimestamp && isFinished(stored)) this.remove(plural, request.namespace ?? '', name);
    return stored;
  }

  #delete(plural: string, object: TestObject, body: unknown): void {
    const { name, namespace = '', uid, deletionTimestamp } = object.metadata;
    const asked = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid;
    if (asked && asked !== uid) throw conflict({ group: '', plural }, name);
    if (isFinished(object)) this.remove(plural, namespace, name);
    else if (!deletionTimestamp) {
      const metadata = { ...object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
      this.put(plural, { ...object, metadata });
    }
  }
}

function isFinished({ metadata, kind, spec }: TestObject): boolean {
  return !metadata.finalizers?.length && !(kind === 'Namespace' && spec?.finalizers?.length);
}

function matches(request: Request, plural: string, { metadata }: TestObject): boolean {
  return request.plural === plural && (request.namespace === undefined || request.namespace === metadata.namespace);
}
