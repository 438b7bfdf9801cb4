/** The process that listens for a cluster, from its start to its end. */

import { rmSync, statSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { LogFields, Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { answerCalls } from '../../base/sockets/keyed-socket/calls.ts';
import { listenAt, makeKey, onOpening, readKey } from '../../base/sockets/keyed-socket/keyed-socket.ts';
import type { Listening, ListenOn } from '../../base/sockets/listening.ts';
import { DnsServer } from '../dns/server/dns-server.ts';
import { DnsNames } from '../dns/server/names.ts';
import { IngressProxy } from '../ingress/proxy/proxy.ts';
import { FrontServer } from '../userspace/front-server.ts';
import { keyOfFront } from '../userspace/fronts.ts';
import { type DaemonCalls, type Door, daemonSocket, HANDOVER_VERSION, pidFile, SOCKET } from './calls.ts';
import { Doors } from './doors.ts';
import type { Channel, ToHeir, ToPredecessor } from './handover.ts';
import { Heir } from './heir.ts';
import { startHeir } from './predecessor.ts';
import { Session, type SessionTools } from './session.ts';

export interface DaemonOptions extends Pick<SessionTools, 'clock' | 'readResolvConf' | 'guardFor'> {
  /** Directory of its socket. */
  readonly directory: string;
  readonly release: string;
  /** The daemon that this one replaces; undefined: none. */
  readonly predecessor: Channel<ToPredecessor, ToHeir> | undefined;
  readonly random: Random;
  readonly log: Logger;
}

const CHECK_MS = 1_000;
/** The program that starts a daemon uses it at once. */
const MAX_UNUSED_CHECKS = 60;
const DNS_PORT = 53;
const NO_NAMES = { domain: 'cluster.local', ranges: [], serviceAddress: undefined, clients: [], upstream: [] };

/** Resolves when the program can connect, with a promise that resolves when the daemon has ended. */
export async function startDaemon(
  options: DaemonOptions,
): Promise<{ end(reason: string): void; readonly ended: Promise<void> }> {
  const daemon = new NetworkDaemon(options);
  await daemon.open();
  return daemon;
}

class NetworkDaemon {
  readonly ended: Promise<void>;
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  #key = '';
  #doors!: Doors;
  #tools!: SessionTools;
  #heir: Heir | undefined;
  #session: { readonly session: Session; readonly socket: Socket; report(event: unknown): void } | undefined;
  /** True when it serves a complete state. */
  #isComplete = false;
  /** True when another daemon has replaced it. */
  #isReplaced = false;
  #unusedChecks = 0;
  #end: () => void = () => undefined;

  constructor(private readonly options: DaemonOptions) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async open(): Promise<void> {
    const { directory, clock, random, predecessor, readResolvConf, guardFor } = this.options;
    const inherited = predecessor && (await Heir.open(predecessor));
    const log = this.#log();
    const names = { clock, random, readResolvConf, ownAddresses: () => this.#dnsAddresses() };
    const dns = new DnsServer(new DnsNames(NO_NAMES, names), { clock, log });
    const ingress = new IngressProxy({ clock, log, guard: guardFor([]) });
    const fronts = new FrontServer({ clock, random });
    const doors = new Doors((door, on) => openDoor({ dns, ingress, fronts }, door, on), inherited?.doors);
    this.#doors = doors;
    this.#tools = { ...names, log, doors, dns, ingress, fronts, guardFor, release: (removed) => releaseAll(removed) };
    writeFileSync(join(directory, pidFile(process.pid)), '', { mode: 0o600 });
    this.#heir = inherited?.heir;
    this.#heir?.relay(doors);
    this.#key = inherited ? readKey(daemonSocket(directory)) : makeKey(daemonSocket(directory), random);
    const socket = inherited ? `heir-${process.pid}.sock` : SOCKET;
    await listenAt(this.#server, { directory, socket });
    this.#heir?.ready(socket);
    this.#check();
  }

  /** Ends at once. */
  end(reason: string): void {
    const { directory, log } = this.options;
    log.info('the network daemon ends', { reason });
    if (!this.#isReplaced && !this.#heir) rmSync(join(directory, SOCKET), { force: true });
    rmSync(join(directory, `heir-${process.pid}.sock`), { force: true });
    rmSync(join(directory, pidFile(process.pid)), { force: true });
    this.#end();
  }

  /** Ends the daemon when its directory is gone or a file was removed. */
  #check(): void {
    this.options.clock.timer(CHECK_MS, () => {
      const file = join(this.options.directory, pidFile(process.pid));
      this.#unusedChecks = this.#session || this.#isComplete ? 0 : this.#unusedChecks + 1;
      const isUsed = this.#unusedChecks < MAX_UNUSED_CHECKS;
      if (!isUsed) this.end('no program uses it');
      else if (statSync(file, { throwIfNoEntry: false })) this.#check();
      else this.end('its directory is gone');
    });
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined);
    onOpening(socket, this.#key, () => {
      const report = answerCalls(
        socket,
        this.#calls(socket, (event) => report(event)),
      );
      socket.on('end', () => socket.end());
      socket.on('close', () => this.#left(socket));
    });
  }

  #calls(socket: Socket, report: (event: unknown) => void): DaemonCalls {
    const { release } = this.options;
    const session = () => {
      if (this.#session?.socket !== socket) throw new Error('there is another session, or none');
      return this.#session.session;
    };
    return {
      facts: async () => ({ release, handover: HANDOVER_VERSION, pid: process.pid }),
      begin: async ({ settings }) => {
        const before = this.#session;
        this.#session = { session: new Session(settings, this.#tools, !this.#isComplete), socket, report };
        before?.session.abandon();
        if (before && before.socket !== socket) before.socket.destroy();
      },
      listen: async (claim) => session().listen(claim),
      held: async (claim) => session().held(claim),
      zone: async ({ changes, isComplete }) => session().zone(changes, isComplete),
      allow: async ({ clients }) => session().allow(clients),
      forward: async ({ upstreams }) => session().forward(upstreams),
      rules: async ({ part, isLast }) => session().rules(part, isLast),
      fronts: async (part) => session().fronts.take(part),
      commit: async () => this.#commit(session()),
      replace: async ({ command }) => this.#replace(command),
      quit: async () => this.end('the program asked for it'),
    };
  }

  async #commit(session: Session): Promise<void> {
    const heir = this.#heir;
    await session.commit(async (door) => (heir ? heir.take(door) : door));
    this.#isComplete = true;
    if (!heir) return;
    const { directory } = this.options;
    await rename(join(directory, `heir-${process.pid}.sock`), join(directory, SOCKET));
    this.#heir = undefined;
    heir.complete();
  }

  #replace(command: readonly string[]): Promise<string> {
    const onComplete = (release: () => Promise<void>) => {
      this.#isReplaced = true;
      this.#server.close();
      this.#session?.socket.destroy();
      void release().then(() => this.end('another one has replaced it'));
    };
    return startHeir({ command, doors: this.#doors, onComplete });
  }

  /**
   * Handles the disconnect of a program. A program that left before it was complete changes nothing. A daemon that has
   * served nobody ends with it.
   */
  #left(socket: Socket): void {
    if (this.#session?.socket !== socket) return;
    this.#session.session.abandon();
    this.#session = undefined;
    if (!this.#isComplete) this.end('the program that started it has gone before it was ready');
  }

  #dnsAddresses(): readonly string[] {
    const isOwn = ({ kind, port }: { kind: string; port: number }) => kind === 'dns-udp' && port === DNS_PORT;
    return this.#doors.all.filter(isOwn).map(({ address }) => address);
  }

  /** Warnings are for the log of the program; without one, for that of the daemon. */
  #log(): Logger {
    const { log } = this.options;
    const to =
      (level: 'warn' | 'error') =>
      (message: string, fields: LogFields = {}) => {
        const sent = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, printable(value)]));
        if (this.#session) this.#session.report({ level, message, fields: sent });
        else log[level](message, fields);
      };
    return { ...log, debug: () => undefined, info: () => undefined, warn: to('warn'), error: to('error') };
  }
}

function releaseAll(removed: readonly Listening[]): void {
  for (const listening of removed) void listening.release(() => undefined);
}

const printable = (value: unknown) => (value instanceof Error ? String(value) : value);

interface Parts {
  readonly dns: DnsServer;
  readonly ingress: IngressProxy;
  readonly fronts: FrontServer;
}

/** Opens doors: each kind of address is served by one part of the daemon. */
function openDoor({ dns, ingress, fronts }: Parts, { kind, address, port }: Door, on: ListenOn): Promise<Listening> {
  switch (kind) {
    case 'dns-udp':
      return dns.listen('udp', on);
    case 'dns-tcp':
      return dns.listen('tcp', on);
    case 'dns-metrics':
      return dns.listen('metrics', on);
    case 'http':
    case 'https':
      return ingress.listen(kind, on);
    case 'front-tcp':
    case 'front-udp': {
      const protocol = kind === 'front-tcp' ? 'tcp' : 'udp';
      return fronts.listen(protocol, keyOfFront({ protocol, host: address, port }), on);
    }
  }
}
