import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens TLS connections on top of those of `connect`, and keeps them according to the options. */
export function tlsAgent(connect: () => Promise<Duplex>, tls: ConnectionOptions, options: AgentOptions) {
  const agent = new Agent(options);
  agent.createConnection = (_, done) => {
    connect().then((socket) => done?.(null, secured(socket, tls)), done as (error: Error) => void);
    return undefined;
  };
  return agent;
}

/**
 * Wraps a socket in TLS, which has no half-open connections: one closed by the peer would be kept, and lose the next
 * request.
 */
function secured(socket: Duplex, tls: ConnectionOptions): Duplex {
  socket.allowHalfOpen = false;
  return connectTls({ ...tls, socket });
}
