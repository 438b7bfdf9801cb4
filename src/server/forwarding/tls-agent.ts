import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens TLS connections on top of those that `connect` opens, and keeps them as the options say. */
export function tlsAgent(connect: () => Promise<Duplex>, tls: ConnectionOptions, options: https.AgentOptions) {
  const agent = new https.Agent(options);
  agent.createConnection = (_, done) => {
    connect().then((socket) => done?.(null, connectTls({ ...tls, socket })), done as (error: Error) => void);
    return undefined;
  };
  return agent;
}
