/**
 * Values in text for `nft`, `ip` and `bridge`. Everything there that is not written in this program passes one of these functions,
 * which throw for other text: no value can end an argument, a line or a set.
 */
import { isIP } from 'node:net';

const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i;
const MAX_PORT = 65_535;

/** An IPv4 or IPv6 address, without a zone. */
export function address(text: string): string {
  if (!isAddress(text)) throw new Error(`${JSON.stringify(text)} is not an address`);
  return text;
}

/** A range such as `10.244.0.0/24`, or one address. */
export function range(text: string): string {
  if (!isRange(text)) throw new Error(`${JSON.stringify(text)} is not a range of addresses`);
  return text;
}

export function macAddress(text: string): string {
  if (!MAC.test(text)) throw new Error(`${JSON.stringify(text)} is not a hardware address`);
  return text;
}

/** Checks a port; 0 means none. */
export function portNumber(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_PORT) throw new Error(`${value} is not a port`);
  return value;
}

export function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`);
  return value;
}

export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

export function isRange(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return isAddress(text);
  const [base, length] = [text.slice(0, slash), text.slice(slash + 1)];
  return isAddress(base) && /^\d{1,3}$/.test(length) && Number(length) <= (base.includes(':') ? 128 : 32);
}
