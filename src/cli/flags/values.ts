/** Parsers for the values of flags. Each returns the value or throws a FlagError. */

import { isIP, isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { FlagError } from '../../base/flag.ts';
import { isHttpUrl } from '../../base/http/http-url.ts';

const MAX_PORT = 65_535;
/** The names of services in it must be at most 253 characters long. */
const MAX_DOMAIN_CHARACTERS = 120;
const MAX_HOST_CHARACTERS = 253;
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** 0 means any free port. */
export function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > MAX_PORT) throw new FlagError('It must be a port number from 0 to 65535.');
  return value;
}

export function address(text: string): string {
  if (isIP(text) === 0) throw new FlagError('It must be an IP address.');
  return text;
}

/** URL of an API server. */
export function serverUrl(text: string): string {
  if (!isHttpUrl(text)) throw new FlagError('It must be a URL such as https://127.0.0.1:6443.');
  return text;
}

/** An IPv4 range that leaves room for a service address, such as `10.96.0.0/16`. */
export function serviceRange(text: string): string {
  const [base = '', bits = ''] = text.split('/');
  const prefix = Number(bits);
  if (!isIPv4(base) || !/^\d+$/.test(bits) || prefix < 8 || prefix > 30) {
    throw new FlagError('It must be an IPv4 range with a prefix from 8 to 30, such as 10.96.0.0/16.');
  }
  const { first, size } = boundsOf(text);
  if (first % size !== 0)
    throw new FlagError('It must be the first address of the range: bits after the prefix must be zero.');
  return text;
}

/** Addresses and ranges of both IP families, separated by commas; none for an empty text. */
export function addressRanges(text: string): readonly string[] {
  const ranges = text === '' ? [] : list(text);
  const wrong = ranges.find((each) => {
    const [base = '', bits = '0', ...more] = each.split('/');
    const family = isIP(base);
    return family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128);
  });
  if (wrong !== undefined) throw new FlagError(`"${wrong}" is not an address or a range such as 127.0.0.0/8.`);
  return ranges;
}

/** Reports whether two IPv4 ranges have an address in common. */
export function rangesOverlap(a: string, b: string): boolean {
  const [one, other] = [boundsOf(a), boundsOf(b)];
  return one.first < other.first + other.size && other.first < one.first + one.size;
}

function boundsOf(range: string): { first: number; size: number } {
  const [base = '', prefix] = range.split('/');
  const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first, size: 2 ** (32 - Number(prefix)) };
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export function portRange(text: string): PortRange {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (first === undefined || range.first < 1 || range.last > MAX_PORT || range.first > range.last) {
    throw new FlagError('It must be a range of ports, such as 30000-32767.');
  }
  return range;
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `5m`, `90s`, `1h30m`: milliseconds. */
export function duration(text: string): number {
  if (!/^(\d+(ms|s|m|h|d))+$/.test(text)) throw new FlagError('It must be a duration, such as 5m or 1h30m.');
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g)) {
    total += Number(amount) * UNITS[unit as keyof typeof UNITS];
  }
  return total;
}

/** `7d`; `0`: nothing. */
export const durationOrNone = (text: string): number => (text === '0' ? 0 : duration(text));

const SIZES = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** `64Mi`: bytes. */
export function bytes(text: string): number {
  const [, amount, unit] = /^(\d+)(|Ki|Mi|Gi)$/.exec(text) ?? [];
  if (amount === undefined) throw new FlagError('It must be a size in bytes, such as 64Mi.');
  return Number(amount) * SIZES[unit as keyof typeof SIZES];
}

/** A name that becomes a folder and a kubeconfig context. */
export function clusterName(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) {
    throw new FlagError('It must be at most 63 lower-case letters, digits and hyphens.');
  }
  return text;
}

/** Names and addresses of servers, separated by commas; none for an empty text. */
export function serverNames(text: string): readonly string[] {
  const names = text === '' ? [] : list(text.toLowerCase());
  const wrong = names.find((name) => isIP(name) === 0 && !isHostName(name));
  if (wrong !== undefined) throw new FlagError(`It must be host names and IP addresses; "${wrong}" is neither.`);
  return names;
}

/** Text that looks like an IPv4 address is none. */
function isHostName(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= MAX_HOST_CHARACTERS && labels.every((each) => LABEL.test(each)) && !/^\d+$/.test(labels.at(-1)!)
  );
}

/** A domain of DNS, such as `cluster.local`. */
export function domain(text: string): string {
  const name = text.replace(/\.$/, '').toLowerCase();
  if (name.length > MAX_DOMAIN_CHARACTERS || !name.split('.').every((each) => LABEL.test(each))) {
    throw new FlagError('It must be a domain of lower-case letters, digits, hyphens and dots, such as cluster.local.');
  }
  return name;
}

export function nodeName(text: string): string {
  if (text.length > MAX_HOST_CHARACTERS || !text.split('.').every((each) => LABEL.test(each))) {
    throw new FlagError('It must be a name of lower-case letters, digits, hyphens and dots, such as machine-1.');
  }
  return text;
}

export function boolean(text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new FlagError('It must be true or false.');
}

/** The absolute path of a file or directory: a later start may be from another working directory. */
export function file(text: string): string {
  if (text === '') throw new FlagError('It must be a path.');
  return resolve(text);
}

/** The same, where empty text means none. */
export function optionalFile(text: string): string {
  return text === '' ? '' : resolve(text);
}

/** A directory, or a bucket of an S3-compatible server, which is looked at when it is opened. */
export function backupTarget(text: string): string {
  if (text.startsWith('s3://')) return text;
  if (text.includes('://')) throw new FlagError('It must be a directory, or a bucket such as s3://BUCKET/PREFIX.');
  return file(text);
}

/** Values separated by commas. */
export function list(text: string): readonly string[] {
  const values = text.split(',').map((part) => part.trim());
  if (values.some((part) => part === '')) {
    throw new FlagError('It must be values separated by commas.');
  }
  return values;
}

/** A whole number of at most nine digits. */
export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new FlagError('It must be a whole number.');
  return Number(text);
}

export function positiveCount(text: string): number {
  const value = count(text);
  if (value === 0) throw new FlagError('It must be greater than zero.');
  return value;
}

/** A number of something per second. */
export function rate(text: string): number {
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(text) || Number(text) === 0) {
    throw new FlagError('It must be a number greater than zero.');
  }
  return Number(text);
}

/** Names that are turned on or off: `services=false,ingresses=true`. */
export function switches(text: string): ReadonlyMap<string, boolean> {
  return new Map(
    list(text).map((entry) => {
      const [, name, on] = /^([^=]+)=(true|false)$/.exec(entry) ?? [];
      if (name === undefined) throw new FlagError(`"${entry}" is not like name=true or name=false.`);
      return [name, on === 'true'];
    }),
  );
}

/** A parser of names separated by commas, of which all must be known. */
export function namesOf(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = list(text);
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new FlagError(`"${unknown}" is not one of ${known.join(', ')}.`);
    return names;
  };
}
