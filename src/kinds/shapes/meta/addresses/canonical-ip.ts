/** Addresses and ranges in the canonical form of RFC 5952, the only form that newer fields accept. */
import { cidrProblems, ipProblems, parseIp } from './ip-address.ts';

/** Problems of an address. */
export function canonicalIpProblems(text: string): string[] {
  const problems = ipProblems(text);
  if (problems.length > 0) return problems;
  return otherForm(text, formatIp(parseIp(text)!));
}

/** Problems of a range such as `10.9.8.0/24`. */
export function canonicalCidrProblems(text: string): string[] {
  const problems = cidrProblems(text);
  if (problems.length > 0) return problems;
  const slash = text.indexOf('/');
  return otherForm(text, formatIp(parseIp(text.slice(0, slash))!) + text.slice(slash));
}

const otherForm = (text: string, canonical: string) =>
  text === canonical ? [] : [`must be in canonical form ("${canonical}")`];

/** Returns the canonical form of an address; text that is not an address stays as it is. */
export function canonicalIp(text: string): string {
  const bytes = parseIp(text);
  return bytes ? formatIp(bytes) : text;
}

/** Formats an address of 4 or 16 bytes. */
export function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[2 * index]! << 8) | bytes[2 * index + 1]!).toString(16),
  );
  const { start, length } = longestZeros(groups);
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}

/** The first of the longest runs of zeros. */
function longestZeros(groups: readonly string[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, index) => {
    if (group !== '0') start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  });
  return longest;
}
