export interface Limits {
  readonly maxBodyBytes: number;
  /** Maximum length of path and query, in characters. */
  readonly maxUrlLength: number;
  /** Maximum size of all headers together, including the request line. */
  readonly maxHeaderBytes: number;
  /** Maximum nesting of objects and lists in a body, because code that walks an object recurses. */
  readonly maxDepth: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** Interval of checks for slow headers. */
  readonly timeoutCheckIntervalMs: number;
  readonly idleTimeoutMs: number;
  /** Maximum number of concurrent requests on one HTTP/2 connection. */
  readonly maxStreams: number;
  /** Timeout for the response to a request, until the client has read it; does not apply to watches. */
  readonly requestTimeoutMs: number;
  /** Maximum number of connections, in total and from one address. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Limits for all clients together: unread responses, and incomplete request bodies. */
  readonly maxUnsentBytes: number;
  readonly maxUnreadBytes: number;
  /** Time for requests in flight to complete when the server shuts down. */
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
  // Slightly longer than Kubernetes' clients keep a connection, so that the client is the one to close it.
  idleTimeoutMs: 95_000,
  maxStreams: 250,
  requestTimeoutMs: 60_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 2_000,
  maxUnsentBytes: 64 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  drainTimeoutMs: 10_000,
};
