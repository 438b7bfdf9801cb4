/**
 * Commands for `nft -j -f -`. JSON has no separators that a value could contain, and the constructors here accept only addresses,
 * ports and names of this program. Tested with nftables 1.0.6.
 */
import { isIPv4 } from 'node:net';

/** One command of a transaction. */
export type NftCommand = Readonly<Record<string, unknown>>;
/** A part of a rule. */
export type NftStatement = Readonly<Record<string, unknown>>;

export interface NftTable {
  readonly family: 'ip' | 'netdev';
  readonly name: string;
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,100}$/;
/** Names of interfaces, as the kernel has them; slashes and blanks are not allowed there either. */
const DEVICE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/;
const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;
const MAX_PORT = 65_535;

export function nftText(commands: readonly NftCommand[]): string {
  return JSON.stringify({ nftables: commands });
}

/** Throws for text that is not one IPv4 address. */
export function ipv4(text: string): string {
  if (!isIPv4(text)) throw new Error(`${JSON.stringify(text)} is not an IPv4 address`);
  return text;
}

/** Throws for text that is not a range such as `10.244.0.0/24`. */
export function ipv4Prefix(text: string): Readonly<Record<string, unknown>> {
  const [address = '', length = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,2}$/.test(length) || Number(length) > 32)
    throw new Error(`${JSON.stringify(text)} is not a range of IPv4 addresses`);
  return { prefix: { addr: ipv4(address), len: Number(length) } };
}

export function macAddress(text: string): string {
  if (!MAC.test(text)) throw new Error(`${JSON.stringify(text)} is not a hardware address`);
  return text;
}

export function portNumber(value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > MAX_PORT) throw new Error(`${value} is not a port`);
  return value;
}

export function deviceName(text: string): string {
  if (!DEVICE.test(text)) throw new Error(`${JSON.stringify(text)} is not the name of an interface`);
  return text;
}

function name(text: string): string {
  if (!NAME.test(text)) throw new Error(`${JSON.stringify(text)} is not a name in a table`);
  return text;
}

const inTable = ({ family, name: table }: NftTable) => ({ family, table: name(table) });

export function addTable({ family, name: table }: NftTable): NftCommand {
  return { add: { table: { family, name: name(table) } } };
}

/** Removes the rules of all its chains. */
export function flushTable({ family, name: table }: NftTable): NftCommand {
  return { flush: { table: { family, name: name(table) } } };
}

export function deleteTable({ family, name: table }: NftTable): NftCommand {
  return { delete: { table: { family, name: name(table) } } };
}

export interface BaseChain {
  readonly type: 'filter' | 'nat';
  readonly hook: 'prerouting' | 'output' | 'postrouting' | 'ingress' | 'egress';
  readonly prio: number;
  readonly policy: 'accept' | 'drop';
  /** The interface, for `netdev`. */
  readonly dev?: string;
}

export function addChain(table: NftTable, chain: string, base?: BaseChain): NftCommand {
  const { dev, ...rest } = base ?? {};
  return {
    add: { chain: { ...inTable(table), name: name(chain), ...rest, ...(dev ? { dev: deviceName(dev) } : {}) } },
  };
}

export function addRule(table: NftTable, chain: string, expr: readonly NftStatement[]): NftCommand {
  return { add: { rule: { ...inTable(table), chain: name(chain), expr } } };
}

export const ACCEPT: NftStatement = Object.freeze({ accept: null });
export const MASQUERADE: NftStatement = Object.freeze({ masquerade: null });

export function jumpTo(chain: string): NftStatement {
  return { jump: { target: name(chain) } };
}

/** Compares a field of the packet. */
export function field(protocol: string, header: string, right: unknown, op: '==' | '!=' = '=='): NftStatement {
  return { match: { op, left: { payload: { protocol, field: header } }, right } };
}
