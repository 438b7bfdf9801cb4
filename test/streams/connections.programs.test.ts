/** Connections to ports of pods through the endpoint of an agent over SPDY, and through the API server over WebSockets. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { describeConnections, type PortBehaviour } from './connection-contract.ts';
import { hostNode } from './host-node.ts';
import { type RemoteNode, remoteNode } from './remote-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

const BEHAVIOURS: Readonly<Record<PortBehaviour, (socket: Socket) => void>> = {
  closes: (socket) => void socket.end('bye\n'),
  counts(socket) {
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    socket.on('end', () => socket.end(`${length}\n`));
  },
  echoes: (socket) => void socket.pipe(socket),
  resets: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
};

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function portOf(behaviour: PortBehaviour): Promise<number> {
  const serve = (socket: Socket) => {
    socket.on('error', () => undefined);
    BEHAVIOURS[behaviour](socket);
  };
  const server = createServer({ allowHalfOpen: true }, serve).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('through the endpoint of an agent', () => {
  let node: RemoteNode;
  beforeAll(async () => {
    node = await remoteNode();
  });
  afterAll(() => node.stop());

  const target = { node: 'n1', namespace: 'default', pod: 'web', signal: undefined };
  describeConnections(async (behaviour) => node.portForward({ ...target, port: await portOf(behaviour) }));
});

// A channel of a WebSocket has no end: that of the only port ends the WebSocket, and the client can only leave.
describe.each(['directly', 'through an agent'])('over WebSockets, %s', (way) => {
  let running: StreamServer;
  let stop: () => void;
  beforeAll(async () => {
    const node = way === 'directly' ? hostNode() : await remoteNode();
    stop = () => node.stop();
    running = await startStreamServer(node);
    await running.createPod('web');
  });
  afterAll(async () => {
    stop();
    await running.stop();
  });

  /** The data and the errors that arrive until the server closes. */
  async function exchange(behaviour: PortBehaviour, sent: string) {
    const path = `/api/v1/namespaces/default/pods/web/portforward?ports=${await portOf(behaviour)}`;
    const socket = new WebSocket(`wss://127.0.0.1:${running.port}${path}`, ['v4.channel.k8s.io'], {
      ca: running.ca,
      headers: { authorization: 'Bearer admin' },
    });
    const received = [Buffer.alloc(0), Buffer.alloc(0)];
    socket.on('message', (message: Buffer) => {
      received[message[0]!] = Buffer.concat([received[message[0]!]!, message.subarray(1)]);
    });
    socket.on('open', () => {
      if (sent !== '') socket.send(Buffer.from(`\0${sent}`));
    });
    await once(socket, 'close');
    // Each channel begins with the number of the port.
    const [data, error] = received.map((bytes) => bytes.toString('utf8', 2));
    return { data, error };
  }

  it('ends when the pod has closed its connection, with everything that the pod sent', async () => {
    expect(await exchange('closes', '')).toEqual({ data: 'bye\n', error: '' });
  });

  it('says that the pod has reset its connection', async () => {
    expect((await exchange('resets', 'go')).error).toMatch(/ECONNRESET|reset/);
  });
});
