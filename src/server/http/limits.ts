/** How much of anything one client may send, and how long it may take. */
export interface Limits {
  /** Bytes of a body. */
  readonly body: number;
  /** Characters of path and query. */
  readonly url: number;
  /** Bytes of all headers, the request line included. */
  readonly headers: number;
  /** Levels of objects and lists inside each other: every walk over an object recurses. */
  readonly depth: number;
  /** Milliseconds until the headers of a request must be there. */
  readonly headersTimeout: number;
  /** Milliseconds until the body of a request must be there. */
  readonly bodyTimeout: number;
  /** How often, in milliseconds, connections are looked at for slow headers. */
  readonly checkInterval: number;
  /** Milliseconds that a connection is kept for its next request. */
  readonly idle: number;
  /** Requests at the same time on one HTTP/2 connection. */
  readonly streams: number;
  /** Milliseconds until a request must be answered, and its answer taken, unless it is a watch. */
  readonly requestTimeout: number;
  /** Connections at the same time: in all, and from one address. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Bytes, of all clients together, of replies that wait to be taken, and of bodies that are not complete. */
  readonly unsent: number;
  readonly unread: number;
  /** Milliseconds that requests in flight get when the server closes. */
  readonly drain: number;
}

export const defaultLimits: Limits = {
  body: 3 * 1024 * 1024,
  url: 32 * 1024,
  headers: 64 * 1024,
  depth: 500,
  headersTimeout: 30_000,
  bodyTimeout: 30_000,
  checkInterval: 15_000,
  // A little longer than clients of Kubernetes wait, so that they are the ones who close it.
  idle: 95_000,
  streams: 250,
  requestTimeout: 60_000,
  connections: 10_000,
  connectionsPerAddress: 2_000,
  unsent: 512 * 1024 * 1024,
  unread: 256 * 1024 * 1024,
  drain: 10_000,
};
