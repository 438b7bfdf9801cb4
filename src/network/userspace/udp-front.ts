/** Carries UDP packets between clients and endpoints: one socket for each client. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Destination } from '../rules/rule-set.ts';
import type { Front } from './fronts.ts';
import type { OpenFront } from './open-front.ts';
import { type Picker, textOf } from './picker.ts';
import { SourceFilter } from './source-filter.ts';

/** Idle timeout after which conntrack forgets a stream of packets, too. */
const IDLE_MS = 120_000;
const MAX_FLOWS = 4_096;

interface Flow {
  readonly socket: Socket;
  readonly endpoint: Destination;
  timer: Timer;
}

/** Rejects when the address cannot be listened on. */
export async function openUdpFront(first: Front, picker: Picker, clock: Clock): Promise<OpenFront> {
  const server = createSocket(first.host.includes(':') ? { type: 'udp6', ipv6Only: true } : { type: 'udp4' });
  server.bind(first.port, first.host);
  await once(server, 'listening');
  return new UdpFront(server, first, picker, clock);
}

class UdpFront implements OpenFront {
  readonly #server: Socket;
  readonly #picker: Picker;
  readonly #clock: Clock;
  readonly #flows = new Map<string, Flow>();
  #front: Front;
  #sources: SourceFilter;

  constructor(server: Socket, front: Front, picker: Picker, clock: Clock) {
    this.#server = server;
    this.#front = front;
    this.#picker = picker;
    this.#clock = clock;
    this.#sources = new SourceFilter(front.allowedSources);
    server.on('error', () => undefined);
    server.on('message', (data, { address, port }) => {
      if (this.#sources.allows(address)) this.#forward(data, address, port);
    });
  }

  /** Clients of endpoints that are gone are sent to others. */
  use(front: Front): void {
    this.#front = front;
    this.#sources = new SourceFilter(front.allowedSources);
    const current = new Set(front.endpoints.map(textOf));
    for (const [client, { endpoint }] of this.#flows) if (!current.has(textOf(endpoint))) this.#end(client);
  }

  async close(): Promise<void> {
    for (const client of [...this.#flows.keys()]) this.#end(client);
    this.#server.close();
    await once(this.#server, 'close');
  }

  #forward(data: Buffer, address: string, port: number): void {
    const client = `${address} ${port}`;
    const flow = this.#flows.get(client) ?? this.#start(client, address, port);
    if (!flow) return;
    flow.timer.cancel();
    flow.timer = this.#clock.timer(IDLE_MS, () => this.#end(client));
    flow.socket.send(data, flow.endpoint.port, flow.endpoint.address);
  }

  #start(client: string, address: string, port: number): Flow | undefined {
    if (this.#flows.size >= MAX_FLOWS) return undefined;
    const endpoint = this.#picker.pick(this.#front, address);
    if (!endpoint) return undefined;
    const socket = createSocket(endpoint.address.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', () => this.#end(client));
    socket.on('message', (data, from) => {
      const isReply = from.port === endpoint.port && from.address === endpoint.address;
      if (isReply) this.#server.send(data, port, address);
    });
    const flow: Flow = { socket, endpoint, timer: this.#clock.timer(IDLE_MS, () => this.#end(client)) };
    this.#flows.set(client, flow);
    return flow;
  }

  #end(client: string): void {
    const flow = this.#flows.get(client);
    if (!flow) return;
    this.#flows.delete(client);
    flow.timer.cancel();
    flow.socket.close();
  }
}
