/** Changes routes of this machine, with `ip` and `bridge` of iproute2. Tested with iproute2 6.1. */
import { runProgram } from '../../../base/programs/run-program.ts';
import type { Link, Router, Routing } from './router.ts';
import {
  type CurrentDevice,
  type CurrentRouting,
  deviceOf,
  metricOf,
  ROUTE_PROTOCOL,
  routingCommands,
} from './routing-commands.ts';

export interface LocalRouterOptions {
  /** Paths of the programs. */
  readonly ip: string;
  /** Path of the program bridge; undefined when there can be no tunnel. */
  readonly bridge: string | undefined;
}

interface IpLink {
  readonly ifname: string;
  readonly mtu: number;
  readonly address?: string;
  readonly addr_info?: readonly { readonly local: string; readonly prefixlen: number }[];
  readonly linkinfo?: {
    readonly info_data?: { readonly id?: number; readonly port?: number; readonly local?: string };
  };
}

export class LocalRouter implements Router {
  constructor(private readonly options: LocalRouterOptions) {}

  async links(): Promise<readonly Link[]> {
    const all = await this.#ip<readonly IpLink[]>('-4', 'addr', 'show');
    return all.map(({ ifname: name, mtu, addr_info = [] }) => ({
      name,
      mtu,
      addresses: addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    }));
  }

  async route(owner: string, routing: Routing): Promise<void> {
    const { ip, bridge } = this.options;
    if (routing.tunnel && bridge === undefined) throw new Error('a tunnel to other machines needs the program bridge');
    const commands = routingCommands(owner, await this.#current(owner), routing);
    await batch([ip], commands.device);
    if (bridge !== undefined) await batch([bridge], commands.bridge);
    // Routes are set as far as possible, even when another machine cannot be reached.
    await batch([ip, '-force'], commands.routes);
  }

  async #current(owner: string): Promise<CurrentRouting> {
    const routes = await this.#ip<readonly { dst: string; dev: string; metric?: number }[]>(
      ...['-4', 'route', 'show', 'proto', String(ROUTE_PROTOCOL)],
    );
    const own = routes.filter(({ metric }) => metric === metricOf(owner));
    // A single address is shown without its prefix.
    const known = own.map(({ dst, dev }) => ({ range: dst.includes('/') ? dst : `${dst}/32`, device: dev }));
    return { routes: known, device: await this.#device(deviceOf(owner)) };
  }

  async #device(name: string): Promise<CurrentDevice | undefined> {
    const [link] = await this.#ip<readonly IpLink[]>('-details', 'link', 'show', 'dev', name).catch(
      (error: unknown) => {
        if (/does not exist/.test(String(error))) return [];
        throw error;
      },
    );
    if (!link) return undefined;
    const { id = 0, port = 0, local = '' } = link.linkinfo?.info_data ?? {};
    const { bridge } = this.options;
    const neighbours = await this.#ip<readonly { dst: string }[]>('neigh', 'show', 'dev', name, 'nud', 'permanent');
    const entries = bridge ? await list<{ mac: string }>([bridge, '-json', 'fdb', 'show', 'dev', name]) : [];
    const [gateways, macs] = [neighbours.map(({ dst }) => dst), entries.map(({ mac }) => mac)];
    return { vni: id, port, local, mac: link.address ?? '', gateways, macs };
  }

  #ip<T extends readonly unknown[]>(...args: readonly string[]): Promise<T> {
    return list([this.options.ip, '-json', ...args]) as unknown as Promise<T>;
  }
}

async function batch(command: readonly string[], lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await runProgram([...command, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** Parses a program's output as JSON; no output is an empty list. */
async function list<T>(command: readonly string[]): Promise<readonly T[]> {
  const text = await runProgram(command);
  return text.trim() === '' ? [] : JSON.parse(text);
}
