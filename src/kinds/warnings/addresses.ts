/** Warnings about addresses and ranges in ambiguous notations, which older fields accept. */
import { formatIp } from '../shapes/meta/addresses/canonical-ip.ts';
import { isMapped, parseIp } from '../shapes/meta/addresses/ip-address.ts';

const ODD = /[^0-9.]|(?:^|\.)0\d/;

export function ipWarnings(path: string, text: string): string[] {
  // Fast path for plain IPv4 addresses.
  if (!ODD.test(text)) return [];
  const bytes = parseIp(text);
  if (!bytes) return [];
  const better = addressText(bytes);
  if (bytes.length === 4 || isMapped(bytes)) {
    return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use ${JSON.stringify(better)}`];
  }
  if (better === text) return [];
  return [
    `${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(better)})`,
  ];
}

export function cidrWarnings(path: string, text: string): string[] {
  const slash = text.indexOf('/');
  const address = text.slice(0, slash);
  const bits = Number(text.slice(slash + 1));
  const bytes = parseIp(address);
  if (slash < 0 || !bytes || !Number.isInteger(bits)) return [];
  const range = rangeOf(bytes, bits);
  const better = `${addressText(range.bytes)}/${range.bits}`;
  const quoted = JSON.stringify(text);
  const found: string[] = [];
  if (!bytes.every((byte, index) => byte === range.whole[index])) {
    const single = `${addressText(bytes)}/${range.bytes.length * 8}`;
    const choices = `${JSON.stringify(better)} or ${JSON.stringify(single)}`;
    found.push(`${path}: CIDR value ${quoted} is ambiguous in this context (should be ${choices}?)`);
  }
  if ((bytes.length === 4 && ODD.test(address)) || isMapped(bytes) || String(bits) !== text.slice(slash + 1)) {
    found.push(`${path}: non-standard CIDR value ${quoted} is invalid: use ${JSON.stringify(better)}`);
  }
  if (found.length === 0 && better !== text) {
    found.push(`${path}: IPv6 CIDR value ${quoted} should be in RFC 5952 canonical format (${JSON.stringify(better)})`);
  }
  return found;
}

/** An IPv4-mapped IPv6 address is shown as an IPv4 address. */
function addressText(bytes: Uint8Array): string {
  return formatIp(isMapped(bytes) ? bytes.subarray(12) : bytes);
}

/** The first address of a range; `whole` has the length of the given address. */
function rangeOf(address: Uint8Array, bits: number): { whole: Uint8Array; bytes: Uint8Array; bits: number } {
  const whole = address.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - index * 8))));
  if (isMapped(address) && bits >= 96) return { whole, bytes: whole.subarray(12), bits: bits - 96 };
  return { whole, bytes: whole, bits };
}
