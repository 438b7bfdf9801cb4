import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens TLS connections on top of those that `connect` opens, and keeps them as the options say. */
export function tlsAgent(connect: () => Promise<Duplex>, tls: ConnectionOptions, options: AgentOptions) {
  const agent = new Agent(options);
  agent.createConnection = (_, done) => {
    connect().then((socket) => done?.(null, secured(socket, tls)), done as (error: Error) => void);
    return undefined;
  };
  return agent;
}

/** TLS has no half-open connections. One that the other side has closed would be kept, and the next request lost on it. */
function secured(socket: Duplex, tls: ConnectionOptions): Duplex {
  socket.allowHalfOpen = false;
  return connectTls({ ...tls, socket });
}
