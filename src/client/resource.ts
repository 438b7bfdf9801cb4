/** The verbs of one kind and version, in one namespace or in all. */
import { ApiError, isApiError, type Status } from '../api/errors.ts';
import type { AnyObject, DeepReadonly, Draft } from '../api/object-types.ts';
import {
  type Asked,
  type DeleteOptions,
  deletion,
  deletionBody,
  type ListOptions,
  type Patch,
  patchBody,
  type ReadOptions,
  type Selectors,
  type SubresourceReadOptions,
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

export interface ListAllOptions<T> extends Omit<ListOptions, 'continue'> {
  /** Called with each page. `isFirst` marks the start of the list, also of a new attempt. Throwing aborts the list. */
  readonly onPage?: (items: readonly DeepReadonly<T>[], isFirst: boolean) => void;
}

export interface Scale {
  readonly replicas: number;
  readonly observed: number;
  readonly selector: string;
}

const PAGE_SIZE = 500;

/** The object or subresource that a request is about. */
type Content = Partial<Pick<Request, 'namespace' | 'name' | 'subresource' | 'body' | 'patchType'>>;

export interface ResourceTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export class Resource<T> {
  constructor(
    private readonly transport: Transport,
    private readonly target: ResourceTarget,
    private readonly namespace?: string,
  ) {}

  /** Returns the resource in one namespace; no change for a cluster-scoped kind. */
  in(namespace: string | undefined): Resource<T> {
    return new Resource(this.transport, this.target, this.target.namespaced ? namespace : undefined);
  }

  get(name: string, options: ReadOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object(this.#one('get', name, split(options)));
  }

  /** Works like `get`, but returns undefined for an object that does not exist. */
  find(name: string, options: ReadOptions = {}): Promise<DeepReadonly<T> | undefined> {
    return this.get(name, options).catch((error: unknown) => {
      if (isApiError(error, 'NotFound')) return undefined;
      throw error;
    });
  }

  /** Returns one page, or all objects when no limit is given. */
  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    const { metadata, items } = await this.#page(options);
    return { metadata, items };
  }

  async #page(options: ListOptions): Promise<ObjectList<T> & { readonly bytes: number }> {
    const answer = await this.transport.call(this.#request('list', split(options)));
    if (answer.type !== 'list') throw unexpected(answer);
    const { metadata, items, bytes = 0 } = answer;
    return { metadata, items: items as unknown as readonly DeepReadonly<T>[], bytes };
  }

  /** Returns all objects, page by page at one version; in one request when the continue token expires. */
  async listAll(options: ListAllOptions<T> = {}): Promise<ObjectList<T>> {
    const { limit = this.transport.pageSize ?? PAGE_SIZE, onPage, ...rest } = options;
    const { maxListBytes = Number.POSITIVE_INFINITY } = this.transport;
    const first = await this.#page({ limit, ...rest });
    onPage?.(first.items, true);
    const items = [...first.items];
    let { bytes } = first;
    let next = first.metadata.continue;
    // The token carries the version, which the request must not repeat.
    const { resourceVersion: _, resourceVersionMatch: __, ...unversioned } = rest;
    while (next) {
      try {
        const page = await this.#page({ limit, continue: next, ...unversioned });
        bytes += page.bytes;
        if (bytes > maxListBytes) throw tooLarge(this.target.plural, maxListBytes);
        onPage?.(page.items, false);
        for (const item of page.items) items.push(item);
        next = page.metadata.continue;
      } catch (error) {
        if (!isApiError(error, 'Expired', 'Gone')) throw error;
        const whole = await this.list(unversioned);
        onPage?.(whole.items, true);
        return whole;
      }
    }
    return { metadata: { resourceVersion: first.metadata.resourceVersion }, items };
  }

  /** Resolves when the server has accepted the watch. Breaking out of its loop, or aborting its signal, ends it. */
  async watch(options: WatchOptions = {}): Promise<Watch<T>> {
    return new Watch<T>(await this.transport.watch(this.#request('watch', split(options))));
  }

  create(object: Draft<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    const { namespace } = metadataOf(object);
    return this.#object(this.#request('create', write(options), { namespace, body: this.#typed(object) }));
  }

  /** Replaces the object. With `metadata.resourceVersion`, rejects with a Conflict when the object has changed. */
  update(object: Draft<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object(this.#update(object, write(options)));
  }

  patch(name: string, patch: Patch<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object(this.#one('patch', name, write(options), patchBody(patch)));
  }

  async delete(name: string, options: DeleteOptions = {}): Promise<void> {
    await this.transport.call(this.#one('delete', name, deletion(options), deletionBody(options)));
  }

  async deleteCollection(options: DeleteOptions & Selectors = {}): Promise<void> {
    const { labelSelector, fieldSelector, ...rest } = options;
    const { options: query, signal } = deletion(rest);
    const selectors = { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined };
    const asked = { options: { ...query, ...selectors }, signal };
    await this.transport.call(this.#request('deletecollection', asked, deletionBody(rest)));
  }

  updateStatus(object: Draft<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object(this.#update(object, write(options), 'status'));
  }

  patchStatus(name: string, patch: Patch<T>, options: WriteOptions = {}): Promise<DeepReadonly<T>> {
    return this.#object(this.#one('patch', name, write(options), { subresource: 'status', ...patchBody(patch) }));
  }

  async scale(name: string, options: ReadOptions = {}): Promise<Scale> {
    return scaleOf(await this.subresource(name, 'scale').get(options));
  }

  /** Sets the number of replicas, without a precondition. */
  async setScale(name: string, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    const patch = { type: 'merge', changes: { spec: { replicas } } } as const;
    return scaleOf(await this.subresource(name, 'scale').patch(patch, options));
  }

  /** A subresource such as `binding`, `eviction` or `finalize`, with untyped content. */
  subresource(name: string, subresource: string): Subresource {
    const call = async (verb: Request['verb'], asked: Asked, content: Content = {}) =>
      anyAnswer(await this.transport.call(this.#one(verb, name, asked, { subresource, ...content })));
    return {
      get: (options = {}) => call('get', split(options)),
      create: (body, options = {}) => call('create', write(options), { body }),
      update: (body, options = {}) => call('update', write(options), { body }),
      patch: (patch, options = {}) => call('patch', write(options), patchBody(patch)),
    };
  }

  async #object(request: Request): Promise<DeepReadonly<T>> {
    const answer = await this.transport.call(request);
    if (answer.type !== 'object') throw unexpected(answer);
    return answer.object as unknown as DeepReadonly<T>;
  }

  /** Builds a request. All have the same fields in the same order: V8 is slow with objects that are extended. */
  #request(
    verb: Request['verb'],
    { options, metadataOnly, signal, timeoutMs, query }: Asked,
    content: Content = {},
  ): Request {
    const { apiVersion, plural, namespaced } = this.target;
    const { namespace = this.namespace, name, subresource, body, patchType } = content;
    return {
      verb,
      apiVersion,
      plural,
      namespace: namespaced ? namespace : undefined,
      name,
      subresource,
      body,
      patchType,
      options,
      metadataOnly,
      signal,
      timeoutMs,
      query,
    };
  }

  #one(verb: Request['verb'], name: string, asked: Asked, content: Content = {}): Request {
    const { namespace = this.namespace, subresource, body, patchType } = content;
    if (!name) throw new TypeError(`the name of a ${this.target.kind} must not be empty`);
    if (this.target.namespaced && !namespace) {
      throw new TypeError(`a ${this.target.kind} needs a namespace: call in(namespace) first`);
    }
    return this.#request(verb, asked, { namespace, name, subresource, body, patchType });
  }

  #update(object: Draft<T>, asked: Asked, subresource?: string): Request {
    const { name = '', namespace } = metadataOf(object);
    return this.#one('update', name, asked, {
      namespace: this.namespace ?? namespace,
      subresource,
      body: this.#typed(object),
    });
  }

  #typed(object: Draft<T>): unknown {
    const { apiVersion, kind } = this.target;
    // Adding keys after a spread is slow, so existing ones are assigned.
    const typed = { apiVersion, kind, ...(object as object) };
    typed.apiVersion = apiVersion;
    typed.kind = kind;
    return typed;
  }
}

export interface Subresource {
  get(options?: SubresourceReadOptions): Promise<DeepReadonly<AnyObject>>;
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
    // The field is a map of labels in older versions.
    selector: typeof selector === 'string' ? selector : labels(selector ?? {}),
  };
}

const labels = (map: Record<string, string>) =>
  Object.entries(map)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Accepts a Status as well, which some subresources return instead of an object. */
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

function tooLarge(plural: string, maxBytes: number): ApiError {
  return new ApiError('RequestEntityTooLarge', `the list of ${plural} is larger than ${maxBytes} bytes`);
}

function unexpected(answer: Answer): Error {
  if (answer.type === 'status' && (answer.status as Status).status === 'Failure') return errorOfStatus(answer.status);
  return new Error(`unexpected answer of the server: ${answer.type}`);
}
