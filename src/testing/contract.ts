/**
 * Exports of `quarterdeck/testing`: a whole cluster inside a test. This file is also its type declaration in the package,
 * so it imports nothing and contains only types.
 */

/** Milliseconds, or a text such as `90s`, `1h30m` or `7d`. */
export type Duration = number | string;

/** An object of the API, in any version and of any kind. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: any;
}

export interface ObjectMeta {
  name?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  [field: string]: any;
}

/** An object to send: the server fills in what is missing. */
export interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Readonly<ObjectMeta>;
  readonly [field: string]: any;
}

/**
 * Names an object: `deployment/web` in the namespace `default`, `deployment/shop/web` in another one, `node/node-1`; or the
 * object itself. The kind may be a kind, a plural or a short name, with the group where that is needed:
 * `events.events.k8s.io/shop/web`.
 */
export type Reference =
  | string
  | { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta };

export interface ClusterOptions {
  /** Determines all randomness: the same seed and the same calls give the same history. Default: a random one. */
  readonly seed?: number | string;
  /** Number of simulated nodes (`node-1`, `node-2` …), or their names. Default: 1. */
  readonly nodes?: number | readonly string[];
  /** The time at which the cluster starts. Default: 2030-01-01T00:00:00Z. */
  readonly now?: string | number | Date;
  /** Rules of the simulation, as in a file of `qd up --simulation`. */
  readonly simulation?: object;
  /** The objects to start with: a snapshot, or the path of one that was saved. Its time, nodes and seed go on. */
  readonly from?: Snapshot | string;
}

export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

export type Patch =
  | {
      readonly type: 'json';
      readonly operations: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
    }
  | { readonly type: 'merge' | 'strategic'; readonly changes: object };

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubeObject;
}

/** The verbs of one kind, in one namespace or in all. Calls reject with an error that has `code`, `reason` and `message`. */
export interface Resource {
  /** The same kind in one namespace. */
  in(namespace: string): Resource;
  get(name: string): Promise<KubeObject>;
  list(
    options?: ListOptions,
  ): Promise<{ readonly metadata: { readonly resourceVersion: string }; readonly items: readonly KubeObject[] }>;
  create(object: Manifest): Promise<KubeObject>;
  update(object: Manifest): Promise<KubeObject>;
  updateStatus(object: Manifest): Promise<KubeObject>;
  patch(name: string, patch: Patch): Promise<KubeObject>;
  patchStatus(name: string, patch: Patch): Promise<KubeObject>;
  delete(name: string, options?: DeleteOptions): Promise<void>;
  deleteCollection(options?: DeleteOptions & Pick<ListOptions, 'labelSelector' | 'fieldSelector'>): Promise<void>;
  /** Ends when the loop over it is left, or the signal is aborted. */
  watch(options?: ListOptions & { readonly signal?: AbortSignal }): Promise<AsyncIterable<WatchEvent>>;
}

/** The API as an administrator, without sockets. */
export interface Client {
  /** A kind by its name, plural or short name: `Deployment`, `pods`, `deploy`; or by `apps/v1` and its kind. */
  of(kind: string, apiVersion?: string): Resource;
  /** The same with the rights of another user. */
  as(user: string, groups?: readonly string[]): Client;
}

export interface WaitOptions {
  /** How far the clock may move. Default: 5m. */
  readonly within?: Duration;
}

export interface SettleOptions extends WaitOptions {
  /** For how long nothing may be about to change. Default: 10s. */
  readonly quiet?: Duration;
}

/** Entry in the history of an object, which is ordered oldest first. */
export interface HistoryEntry {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly resourceVersion: string;
  /** When it happened, by the cluster's clock. */
  readonly time: Date;
  /** The object after the change; for a deletion, the last state before it. */
  readonly object: KubeObject;
}

export interface Snapshot {
  /** Number of objects. */
  readonly size: number;
  /** The time of the cluster. */
  readonly time: Date;
  /** Writes the snapshot into a file, from which a cluster in another process or `qd up --restore` can start. */
  save(file: string): Promise<void>;
}

/** Matches requests; what is left out matches all. */
export interface FaultMatch {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verbs?: readonly string[];
  /** Plurals: `pods`. */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  /** Names of users: `system:kube-scheduler`. Default: all but the administrator's `client`. */
  readonly users?: readonly string[];
}

/** Fault that happens to matching requests. */
export interface Fault extends FaultMatch {
  /** The share of matching requests that it happens to, from 0 to 1. Default: 1. */
  readonly rate?: number;
  /** How many requests it happens to before it ends. Default: no limit. */
  readonly times?: number;
  /** They fail: 409 Conflict, 429 TooManyRequests, 500 InternalError, 503 ServiceUnavailable. */
  readonly error?: 409 | 429 | 500 | 503;
  /** They are answered this much later. */
  readonly latency?: Duration;
  /** Watches end this long after they began. */
  readonly dropWatches?: Duration;
  /** Events of watches arrive this much later. */
  readonly staleWatches?: Duration;
}

/** A fault that is in effect. */
export interface ActiveFault {
  /** How many requests it has happened to. */
  readonly hits: number;
  /** Ends the fault. */
  remove(): void;
}

/** A cluster inside the process: API server, controllers, scheduler and simulated nodes on a store in memory. */
export interface Cluster {
  /** The seed, to start the same cluster again. */
  readonly seed: number;
  /** The time of the cluster, which only moves with `advance`, `settle` and `waitFor`. */
  readonly now: Date;
  readonly client: Client;
  /** Reads an object. */
  get(object: Reference): Promise<KubeObject>;
  /** Creates or changes objects, given as YAML (also several documents) or as objects, as `kubectl apply --server-side` does. */
  apply(...manifests: readonly (string | Manifest)[]): Promise<KubeObject[]>;
  /**
   * Moves the clock until an object has a condition (`Available`) or fulfils a function, or until a function resolves to
   * true. Resolves with the object. Rejects when that does not happen in time.
   */
  waitFor(
    object: Reference,
    condition: string | ((object: KubeObject) => boolean),
    options?: WaitOptions,
  ): Promise<KubeObject>;
  waitFor(condition: () => boolean | Promise<boolean>, options?: WaitOptions): Promise<void>;
  /**
   * Moves the clock until nothing more would happen: no object changes for a while but leases and events. Rejects when
   * objects go on to change.
   */
  settle(options?: SettleOptions): Promise<void>;
  /** Moves the clock; everything that is due on the way happens, in order. */
  advance(time: Duration): Promise<void>;
  /** The present state, after everything that is happening now has happened. */
  snapshot(): Promise<Snapshot>;
  /** Starts another cluster with the present state of this one. They share nothing. */
  fork(): Promise<Cluster>;
  /** Cuts a node off: it is silent, its pods go on unseen. */
  failNode(name: string): Promise<void>;
  /** Connects a node again. */
  recoverNode(name: string): Promise<void>;
  /**
   * Cuts the network between nodes and the rest of the cluster: they are silent, their pods go on unseen, and their logs
   * cannot be read. The function that it returns connects them again.
   */
  cutNetwork(...nodes: readonly string[]): Promise<() => Promise<void>>;
  /** Lets the containers of a running pod exit. */
  crashPod(
    pod: Reference,
    options?: { readonly exitCode?: number; readonly reason?: string; readonly container?: string },
  ): Promise<void>;
  /** Disturbs requests of components and other clients, until it is removed. */
  addFault(fault: Fault): ActiveFault;
  /** Lets writes to the store wait, until the function that it returns is called. */
  stallStore(): () => void;
  /** All versions of an object since the cluster started, at most the last 64 MiB of all objects. */
  history(object: Reference): Promise<HistoryEntry[]>;
  /** Serves the API over TLS on 127.0.0.1, from the first call on, and returns a kubeconfig for an administrator. */
  kubeconfig(): Promise<string>;
  /** Ends the cluster and everything that belongs to it. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ClusterFactory {
  /** Resolves when the cluster answers requests and its nodes are ready. */
  start(options?: ClusterOptions): Promise<Cluster>;
}

export declare const Cluster: ClusterFactory;
