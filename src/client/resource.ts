/** The verbs of one kind and version, in one namespace or in all. */
import { isApiError, type Status } from '../base/errors.ts';
import type { AnyObject, DeepReadonly, Draft } from './object-types.ts';
import {
  type DeleteOptions,
  deletion,
  type ListOptions,
  type Patch,
  patchBody,
  type ReadOptions,
  type Selectors,
  split,
  type WatchOptions,
  type WriteOptions,
  write,
} from './request-options.ts';
import { errorOfStatus } from './status-error.ts';
import type { Answer, ListMeta, Request, Transport } from './transport/transport.ts';
import { Watch } from './watch.ts';

export interface ObjectList<T> {
  readonly metadata: ListMeta;
  readonly items: readonly DeepReadonly<T>[];
}

export interface Scale {
  readonly replicas: number;
  readonly observed: number;
  readonly selector: string;
}

/** The page size of listAll. */
const PAGE_SIZE = 500;

/** Identifies a resource of the API. */
export interface ResourceTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export class Resource<T> {
  readonly #transport: Transport;
  readonly #target: ResourceTarget;
  readonly #namespace: string | undefined;

  constructor(transport: Transport, target: ResourceTarget, namespace?: string) {
    this.#transport = transport;
    this.#target = target;
    this.#namespace = namespace;
  }

  /** Returns the resource in one namespace; no change for a cluster-scoped kind. */
  in(namespace: string | undefined): Resource<T> {
    return new Resource(this.#transport, this.#target, this.#target.namespaced ? namespace : undefined);
  }

  get(name: string, options: ReadOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object({ ...this.#one('get', name), ...split(options) });
  }

  /** Returns one page, or all objects when no limit is given. */
  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    const answer = await this.#transport.call({ ...this.#all('list'), ...split(options) });
    if (answer.type !== 'list') throw unexpected(answer);
    return { metadata: answer.metadata, items: answer.items as unknown as readonly DeepReadonly<T>[] };
  }

  /**
   * Returns all objects, read page by page at one version. When the continue token expires, they are read in one request.
   */
  async listAll(options: Omit<ListOptions, 'continue'> = {}): Promise<ObjectList<T>> {
    const { limit = this.#transport.pageSize ?? PAGE_SIZE, ...rest } = options;
    const first = await this.list({ ...rest, limit });
    const items = [...first.items];
    let next = first.metadata.continue;
    // The token carries the version, which the request must not repeat.
    const { resourceVersion: _, resourceVersionMatch: __, ...unversioned } = rest;
    while (next) {
      try {
        const page = await this.list({ ...unversioned, limit, continue: next });
        items.push(...page.items);
        next = page.metadata.continue;
      } catch (error) {
        if (isApiError(error, 'Expired', 'Gone')) return this.list(unversioned);
        throw error;
      }
    }
    return { metadata: { resourceVersion: first.metadata.resourceVersion }, items };
  }

  /** Resolves when the server has accepted the watch. Leaving the loop over it, or aborting its signal, ends it. */
  async watch(options: WatchOptions = {}): Promise<Watch<T>> {
    const request = { ...this.#all('watch'), ...split(options) };
    return new Watch<T>(await this.#transport.watch(request));
  }

  create(object: Draft<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    const { namespace } = metadataOf(object);
    return this.#object({ ...this.#all('create', namespace), body: this.#typed(object), ...write(options) });
  }

  /** Replaces the object. With `metadata.resourceVersion`, rejects with a Conflict when the object has changed. */
  update(object: Draft<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object({ ...this.#of('update', object), body: this.#typed(object), ...write(options) });
  }

  patch(name: string, patch: Patch<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object({ ...this.#one('patch', name), ...patchBody(patch), ...write(options) });
  }

  async delete(name: string, options: DeleteOptions = {}): Promise<void> {
    await this.#transport.call({ ...this.#one('delete', name), ...deletion(options) });
  }

  async deleteCollection(options: DeleteOptions & Selectors = {}): Promise<void> {
    const { labelSelector, fieldSelector, ...rest } = options;
    const { options: query, ...request } = deletion(rest);
    const selectors = { ...(labelSelector ? { labelSelector } : {}), ...(fieldSelector ? { fieldSelector } : {}) };
    await this.#transport.call({ ...this.#all('deletecollection'), ...request, options: { ...query, ...selectors } });
  }

  updateStatus(object: Draft<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    const request = { ...this.#of('update', object), subresource: 'status' };
    return this.#object({ ...request, body: this.#typed(object), ...write(options) });
  }

  patchStatus(name: string, patch: Patch<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object({
      ...this.#one('patch', name),
      subresource: 'status',
      ...patchBody(patch),
      ...write(options),
    });
  }

  async scale(name: string, options: ReadOptions = {}): Promise<Scale> {
    return scaleOf(await this.subresource(name, 'scale').get(options));
  }

  /** Sets the number of replicas, whatever it was. */
  async setScale(name: string, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    const patch = { type: 'merge', changes: { spec: { replicas } } } as const;
    return scaleOf(await this.subresource(name, 'scale').patch(patch, options));
  }

  /** A subresource such as `binding`, `eviction` or `finalize`, with untyped content. */
  subresource(name: string, subresource: string): Subresource {
    const request = (verb: 'get' | 'create' | 'update' | 'patch') => ({ ...this.#one(verb, name), subresource });
    const call = async (full: Request) => anyAnswer(await this.#transport.call(full));
    return {
      get: (options = {}) => call({ ...request('get'), ...split(options) }),
      create: (body, options = {}) => call({ ...request('create'), body, ...write(options) }),
      update: (body, options = {}) => call({ ...request('update'), body, ...write(options) }),
      patch: (patch, options = {}) => call({ ...request('patch'), ...patchBody(patch), ...write(options) }),
    };
  }

  async #object(request: Request): Promise<DeepReadonly<T>> {
    const answer = await this.#transport.call(request);
    if (answer.type !== 'object') throw unexpected(answer);
    return answer.object as unknown as DeepReadonly<T>;
  }

  #all(verb: Request['verb'], namespace = this.#namespace): Request {
    const { apiVersion, plural, namespaced } = this.#target;
    return { verb, apiVersion, plural, ...(namespaced && namespace !== undefined ? { namespace } : {}) };
  }

  #one(verb: Request['verb'], name: string, namespace = this.#namespace): Request {
    if (!name) throw new TypeError(`the name of a ${this.#target.kind} must not be empty`);
    if (this.#target.namespaced && !namespace) {
      throw new TypeError(`a ${this.#target.kind} needs a namespace: call in(namespace) first`);
    }
    return { ...this.#all(verb, namespace), name };
  }

  #of(verb: Request['verb'], object: Draft<T>): Request {
    const { name = '', namespace } = metadataOf(object);
    return this.#one(verb, name, this.#namespace ?? namespace);
  }

  #typed(object: Draft<T>): unknown {
    const { apiVersion, kind } = this.#target;
    return { ...(object as object), apiVersion, kind };
  }
}

export interface Subresource {
  get(options?: ReadOptions): Promise<DeepReadonly<AnyObject>>;
  create(body: object, options?: WriteOptions): Promise<DeepReadonly<AnyObject>>;
  update(body: object, options?: WriteOptions): Promise<DeepReadonly<AnyObject>>;
  patch(patch: Patch<AnyObject>, options?: WriteOptions): Promise<DeepReadonly<AnyObject>>;
}

function metadataOf(object: unknown): { name?: string; namespace?: string } {
  return (object as { metadata?: { name?: string; namespace?: string } }).metadata ?? {};
}

function scaleOf(object: DeepReadonly<AnyObject>): Scale {
  const { spec, status } = object;
  const selector = status?.selector;
  return {
    replicas: spec?.replicas ?? 0,
    observed: status?.replicas ?? 0,
    // Older versions have a map of labels here.
    selector: typeof selector === 'string' ? selector : labels(selector ?? {}),
  };
}

const labels = (map: Record<string, string>) =>
  Object.entries(map)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Some subresources return a Status instead of an object. */
function anyAnswer(answer: Answer): DeepReadonly<AnyObject> {
  switch (answer.type) {
    case 'object':
      return answer.object;
    case 'status':
      return answer.status as unknown as DeepReadonly<AnyObject>;
    case 'list':
      throw unexpected(answer);
  }
}

function unexpected(answer: Answer): Error {
  if (answer.type === 'status' && (answer.status as Status).status === 'Failure') return errorOfStatus(answer.status);
  return new Error(`unexpected answer of the server: ${answer.type}`);
}
