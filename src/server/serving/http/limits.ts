/** How much a client may send, and how long it may take. */
export interface Limits {
  readonly maxBodyBytes: number;
  /** Characters of path and query. */
  readonly maxUrlLength: number;
  /** Of all headers together, including the request line. */
  readonly maxHeaderBytes: number;
  /** Nesting of objects and lists in a body: everything that walks an object recurses. */
  readonly maxDepth: number;
  /** Until the headers of a request must have arrived. */
  readonly headersTimeoutMs: number;
  /** Until the body of a request must have arrived. */
  readonly bodyTimeoutMs: number;
  /** How often connections are checked for slow headers. */
  readonly timeoutCheckIntervalMs: number;
  /** How long a connection is kept open for its next request. */
  readonly idleTimeoutMs: number;
  /** Concurrent requests on one HTTP/2 connection. */
  readonly maxStreams: number;
  /** Until a request must be answered, and its response read; does not apply to watches. */
  readonly requestTimeoutMs: number;
  /** Concurrent connections, in all and from one address. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Of all clients together: responses that they have not read, and request bodies that are incomplete. */
  readonly maxUnsentBytes: number;
  readonly maxUnreadBytes: number;
  /** How long requests in flight may take when the server shuts down. */
  readonly drainTimeoutMs: number;
}

export const defaultLimits: Limits = {
  maxBodyBytes: 3 * 1024 * 1024,
  maxUrlLength: 32 * 1024,
  maxHeaderBytes: 64 * 1024,
  maxDepth: 500,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 30_000,
  timeoutCheckIntervalMs: 5_000,
  // A little longer than Kubernetes' clients keep a connection, so that the client is the one to close it.
  idleTimeoutMs: 95_000,
  maxStreams: 250,
  requestTimeoutMs: 60_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 2_000,
  maxUnsentBytes: 64 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  drainTimeoutMs: 10_000,
};
