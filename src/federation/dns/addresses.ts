/** IP addresses as text. */
import { isIPv4, isIPv6 } from 'node:net';

/** Returns the shortest form of an address, in lower case; undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}
