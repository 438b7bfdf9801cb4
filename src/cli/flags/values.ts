/** Values of flags: each parser returns the value or says what is wrong, in the words commander puts behind the flag. */

import { isIP, isIPv4 } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** 0 means any free port. */
export function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return value;
}

export function address(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('It must be an IP address.');
  return text;
}

/** An IPv4 range that leaves room for a service address: `10.96.0.0/16`. */
export function serviceRange(text: string): string {
  const [base = '', bits = ''] = text.split('/');
  const prefix = Number(bits);
  if (!isIPv4(base) || !/^\d+$/.test(bits) || prefix < 8 || prefix > 30) {
    throw new InvalidArgumentError('It must be an IPv4 range with a prefix from 8 to 30, such as 10.96.0.0/16.');
  }
  const number = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  if (number % 2 ** (32 - prefix) !== 0) throw new InvalidArgumentError('Bits behind the prefix must be zero.');
  return text;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export function portRange(text: string): PortRange {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (first === undefined || range.first < 1 || range.last > 65_535 || range.first > range.last) {
    throw new InvalidArgumentError('It must be two ports, such as 30000-32767.');
  }
  return range;
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `5m`, `90s`, `1h30m`: milliseconds. */
export function duration(text: string): number {
  if (!/^(\d+(ms|s|m|h))+$/.test(text)) throw new InvalidArgumentError('It must be a duration, such as 5m or 1h30m.');
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h)/g)) {
    total += Number(amount) * UNITS[unit as keyof typeof UNITS];
  }
  return total;
}

const SIZES = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** `64Mi`: bytes. */
export function bytes(text: string): number {
  const [, amount, unit] = /^(\d+)(|Ki|Mi|Gi)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('It must be a size in bytes, such as 64Mi.');
  return Number(amount) * SIZES[unit as keyof typeof SIZES];
}

/** A name that becomes a folder and a context. */
export function clusterName(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError('It must be at most 63 small letters, digits and dashes.');
  }
  return text;
}

/** Comma-separated http or https addresses. */
export function servers(text: string): readonly string[] {
  const urls = text.split(',').map((part) => part.trim());
  for (const url of urls) {
    if (!/^https?:\/\/[^/,\s]+\/?$/.test(url) || !URL.canParse(url)) {
      throw new InvalidArgumentError('It must be addresses such as http://127.0.0.1:2379, separated by commas.');
    }
  }
  return urls.map((url) => url.replace(/\/$/, ''));
}

export function flag(text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new InvalidArgumentError('It must be true or false.');
}

/** Values with commas between them. */
export function list(text: string): readonly string[] {
  const values = text.split(',').map((part) => part.trim());
  if (values.some((part) => part === '')) {
    throw new InvalidArgumentError('It must be values with commas between them.');
  }
  return values;
}
