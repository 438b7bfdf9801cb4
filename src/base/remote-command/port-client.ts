import type { Duplex } from 'node:stream';
import { openSession, type RemoteTarget } from './client.ts';
import { PORT_PROTOCOL } from './spdy-ports.ts';

/** Connects to one port through a server that forwards ports. Rejects when the server refuses. */
export async function openPort(target: RemoteTarget, port: number): Promise<Duplex> {
  const session = await openSession(target, [PORT_PROTOCOL]);
  const headers = { port: String(port), requestid: '0' };
  const error = session.open({ ...headers, streamtype: 'error' });
  error.end();
  const data = session.open({ ...headers, streamtype: 'data' });
  // At once: the end of the data follows immediately, and would look like that of a connection.
  error.once('data', (message: Buffer) => data.destroy(new Error(message.toString('utf8'))));
  data.once('close', () => session.close());
  await data.accepted;
  return data;
}
