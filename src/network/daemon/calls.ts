/** The calls that a network daemon answers, and the names of its files. All values are plain. */
import type { KeyedSocketNames } from '../../base/sockets/keyed-socket/keyed-socket.ts';
import type { DnsSettings } from '../dns/server/names.ts';
import type { Upstreams } from '../dns/upstream/stub-domains.ts';
import type { ZoneChange } from '../dns/zone/zone.ts';
import type { ConfigChange } from '../ingress/changes.ts';
import type { Protocol } from '../rules/rule-set.ts';
import type { Front } from '../userspace/fronts.ts';

/** Daemons with the same number can hand their sockets to each other, whatever else differs. */
export const HANDOVER_VERSION = 1;

export const SOCKET = 'daemon.sock';

export const daemonSocket = (directory: string, socket = SOCKET): KeyedSocketNames => ({
  directory,
  socket,
  key: 'daemon.key',
});

/** Where a daemon writes its errors. */
export const LOG_FILE = 'daemon.log';
export const pidFile = (pid: number) => `${pid}.pid`;

export type DoorKind = 'dns-udp' | 'dns-tcp' | 'dns-metrics' | 'http' | 'https' | FrontKind;
type FrontKind = `front-${Protocol}`;

/** An address that the daemon listens on. */
export interface Door {
  readonly kind: DoorKind;
  readonly address: string;
  readonly port: number;
}

export interface DaemonFacts {
  /** Identifies the code of the daemon. */
  readonly release: string;
  readonly handover: number;
  readonly pid: number;
}

export interface SessionSettings {
  readonly dns: DnsSettings;
  /** Ranges that backends of Ingresses may be in besides those that are always allowed. */
  readonly allowedDialRanges: readonly string[];
}

/** Data as Latin-1 text: it is shorter than base64. */
type SentRecord = readonly [name: string, type: number, data: string];
export interface SentChange {
  readonly source: string;
  readonly records: readonly SentRecord[];
}

/** Fronts that a Service asks a node to listen on; none for a deleted Service. */
export interface ServiceFronts {
  readonly service: string;
  readonly fronts: readonly Front[];
}

export interface FrontsPart {
  /** The node whose Services they are. */
  readonly node: string;
  readonly services: readonly ServiceFronts[];
  /** True when these are all Services of the node; false when only those that have changed. */
  readonly isAll: boolean;
  /** The parts count from the last one on. */
  readonly isLast: boolean;
}

export interface DaemonCalls {
  facts(params: object): Promise<DaemonFacts>;
  /**
   * Starts a session; the session before has no further effect. The daemon keeps serving its state until the new one
   * replaces it.
   */
  begin(params: { settings: SessionSettings }): Promise<void>;
  /**
   * Listens with all kinds on one port, or goes on doing so. Port 0: one that it has for these kinds already, or any. Resolves with the port;
   * rejects when it cannot be used.
   */
  listen(params: { kinds: readonly DoorKind[]; address: string; port: number }): Promise<number>;
  /** Resolves with the ports of an address that it has for all these kinds. */
  held(params: { kinds: readonly DoorKind[]; address: string }): Promise<readonly number[]>;
  /** The zone counts when it is complete. */
  zone(params: { changes: readonly SentChange[]; isComplete: boolean }): Promise<void>;
  allow(params: { clients: readonly string[] }): Promise<void>;
  forward(params: { upstreams: Upstreams }): Promise<void>;
  /** The rules of Ingresses, which count from the last part on. */
  rules(params: { part: readonly ConfigChange[]; isLast: boolean }): Promise<void>;
  /** Listens for Services, where nodes have no rights to make rules. What cannot be listened on is a warning. */
  fronts(params: FrontsPart): Promise<void>;
  /** Completes the session: doors that it does not listen on are closed. An heir takes the sockets over. */
  commit(params: object): Promise<void>;
  /** Starts an heir with this command. Resolves with the name of its socket. */
  replace(params: { command: readonly string[] }): Promise<string>;
  /** Ends the daemon. */
  quit(params: object): Promise<void>;
}

/** Warning that the daemon sends to the program of the session, for its log. */
export interface DaemonEvent {
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function sentChange({ source, records }: ZoneChange): SentChange {
  return { source, records: records.map(({ name, type, data }) => [name, type, data.toString('latin1')] as const) };
}

export function receivedChange({ source, records }: SentChange): ZoneChange {
  return { source, records: records.map(([name, type, data]) => ({ name, type, data: Buffer.from(data, 'latin1') })) };
}
