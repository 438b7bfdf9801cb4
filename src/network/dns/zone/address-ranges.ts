/** Ranges of addresses, and the names of addresses in them. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

export interface AddressRange {
  readonly addresses: BlockList;
  /** The reverse name of the range, shortened to whole labels. */
  readonly reverseApex: string;
}

const BITS_PER_LABEL = { ipv4: 8, ipv6: 4 } as const;

/** Reads `10.96.0.0/16`. Throws for text that is not a range. */
export function addressRange(text: string): AddressRange {
  const [base = '', bits = ''] = text.split('/');
  const family = isIPv4(base) ? 'ipv4' : 'ipv6';
  const addresses = new BlockList();
  addresses.addSubnet(base, Number(bits), family);
  const labels = Math.floor(Number(bits) / BITS_PER_LABEL[family]);
  const first = family === 'ipv4' ? base.split('.').slice(0, labels).reverse() : [];
  return { addresses, reverseApex: [...first, family === 'ipv4' ? 'in-addr.arpa' : 'ip6.arpa'].join('.') };
}

/** Reports whether a range has the address that a reverse name stands for. */
export function reverseRange({ addresses }: AddressRange, name: string): boolean {
  const address = addressOf(name);
  return address !== undefined && isInRange(addresses, address);
}

export function isInRange(addresses: BlockList, address: string): boolean {
  if (isIPv4(address)) return addresses.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  return mapped !== undefined ? addresses.check(mapped, 'ipv4') : addresses.check(address, 'ipv6');
}

/** The address of a whole reverse name; undefined for other names. */
function addressOf(name: string): string | undefined {
  if (name.endsWith('.in-addr.arpa')) {
    const address = name.slice(0, -'.in-addr.arpa'.length).split('.').reverse().join('.');
    return isIPv4(address) ? address : undefined;
  }
  if (!name.endsWith('.ip6.arpa')) return undefined;
  const digits = name.slice(0, -'.ip6.arpa'.length).split('.').reverse().join('');
  return /^[0-9a-f]{32}$/.test(digits) ? digits.replace(/(.{4})(?=.)/g, '$1:') : undefined;
}
