/** Ranges of IPv4 addresses, and whether they overlap. */

export interface Ipv4Range {
  /** The canonical form, with the bits of the host cleared: `10.0.0.0/8`. */
  readonly text: string;
  /** The first address. */
  readonly base: string;
  /** Length of the prefix. */
  readonly length: number;
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ADDRESS = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

export const isIpv4 = (text: string) => ADDRESS.test(text);

export const addressPart = (text: string) => text.split('/')[0] ?? '';

/** Reads `10.1.2.3/8`; undefined when it is no range of IPv4 addresses. */
export function ipv4Range(text: string): Ipv4Range | undefined {
  const [address = '', prefix = '', rest] = text.split('/');
  const length = Number(prefix);
  if (!isIpv4(address) || !/^\d{1,2}$/.test(prefix) || length > 32 || rest !== undefined) return undefined;
  const base = addressOf(Math.floor(numberOf(address) / sizeOf(length)) * sizeOf(length));
  return { text: `${base}/${length}`, base, length };
}

export function overlaps(a: Ipv4Range, b: Ipv4Range): boolean {
  const [first, other] = [numberOf(a.base), numberOf(b.base)];
  return first < other + sizeOf(b.length) && other < first + sizeOf(a.length);
}

const sizeOf = (length: number) => 2 ** (32 - length);

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function addressOf(value: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join('.');
}
