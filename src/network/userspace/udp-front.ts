/** Carries UDP packets between clients and endpoints: one socket for each client. */
import { createSocket, Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Listening, ListenOn, SendDatagram } from '../../base/sockets/listening.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Destination } from '../rules/rule-set.ts';
import { perFront } from './fronts.ts';
import { textOf } from './picker.ts';
import { SourceFilter } from './source-filter.ts';
import type { FrontOptions } from './tcp-front.ts';

/** Idle timeout after which conntrack forgets a stream of packets, too. */
const IDLE_MS = 120_000;
const MAX_FLOWS = 4_096;

interface Flow {
  readonly socket: Socket;
  readonly endpoint: Destination;
  timer: Timer;
}

interface UdpFrontOptions extends FrontOptions {
  readonly clock: Clock;
}

/** Rejects when the address cannot be listened on. */
export async function listenUdpFront(options: UdpFrontOptions): Promise<Listening> {
  return new UdpFront(await openSocket(options.on), options);
}

async function openSocket(on: ListenOn): Promise<Socket> {
  if ('handle' in on) {
    if (on.handle instanceof Socket) return on.handle;
    throw new Error('this is no socket for datagrams');
  }
  const socket = createSocket(on.address.includes(':') ? { type: 'udp6', ipv6Only: true } : { type: 'udp4' });
  socket.bind({ address: on.address, port: on.port, exclusive: true });
  await once(socket, 'listening');
  return socket;
}

class UdpFront implements Listening {
  readonly port: number;
  readonly handle: Socket;
  readonly #flows = new Map<string, Flow>();
  readonly #sources = perFront(({ allowedSources }) => new SourceFilter(allowedSources));
  readonly #endpoints = perFront(({ endpoints }) => new Set(endpoints.map(textOf)));
  #reply: SendDatagram;
  #isClosed = false;
  #onLastFlow: () => void = () => undefined;

  constructor(
    socket: Socket,
    private readonly options: UdpFrontOptions,
  ) {
    this.handle = socket;
    this.port = socket.address().port;
    this.#reply = (data, { port, address }) => socket.send(data, port, address);
    socket.on('error', () => undefined);
    socket.on('message', (data, { address, port }) => this.#forward(data, address, port));
  }

  async close(): Promise<void> {
    for (const client of [...this.#flows.keys()]) this.#end(client);
    await this.#stopReading();
  }

  /** Flows end when they are idle; those of a front that is gone, at once. */
  async release(send: SendDatagram): Promise<void> {
    this.#reply = send;
    await this.#stopReading();
    if (!this.options.front()) return this.close();
    if (this.#flows.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onLastFlow = resolve;
    });
  }

  async #stopReading(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.handle.close();
    await once(this.handle, 'close');
  }

  #forward(data: Buffer, address: string, port: number): void {
    const front = this.options.front();
    if (!front || !this.#sources(front).allows(address)) return;
    const client = `${address} ${port}`;
    const flow = this.#flowOf(client) ?? this.#start(client, address, port);
    if (!flow) return;
    flow.timer.cancel();
    flow.timer = this.options.clock.timer(IDLE_MS, () => this.#end(client));
    flow.socket.send(data, flow.endpoint.port, flow.endpoint.address);
  }

  /** Clients of endpoints that are gone are sent to others. */
  #flowOf(client: string): Flow | undefined {
    const flow = this.#flows.get(client);
    if (!flow || this.#isCurrent(flow.endpoint)) return flow;
    this.#end(client);
    return undefined;
  }

  #isCurrent(endpoint: Destination): boolean {
    const front = this.options.front();
    return front !== undefined && this.#endpoints(front).has(textOf(endpoint));
  }

  #start(client: string, address: string, port: number): Flow | undefined {
    const { clock, picker } = this.options;
    const front = this.options.front();
    if (this.#flows.size >= MAX_FLOWS || !front) return undefined;
    const endpoint = picker.pick(front, address);
    if (!endpoint) return undefined;
    const socket = createSocket(endpoint.address.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', () => this.#end(client));
    socket.on('message', (data, from) => {
      const isReply = from.port === endpoint.port && from.address === endpoint.address;
      if (isReply && this.#isCurrent(endpoint)) this.#reply(data, { port, address });
    });
    const flow: Flow = { socket, endpoint, timer: clock.timer(IDLE_MS, () => this.#end(client)) };
    this.#flows.set(client, flow);
    return flow;
  }

  #end(client: string): void {
    const flow = this.#flows.get(client);
    if (!flow) return;
    this.#flows.delete(client);
    flow.timer.cancel();
    flow.socket.close();
    if (this.#flows.size === 0) this.#onLastFlow();
  }
}
