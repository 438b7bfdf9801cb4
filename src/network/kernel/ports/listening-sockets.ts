/** Reads which ports of a network namespace have listeners, from the files that Linux has for that. */
import { formatIp } from '../../../kinds/shapes/meta/addresses/canonical-ip.ts';

export interface NetworkPort {
  readonly protocol: 'tcp' | 'udp';
  /** `0.0.0.0` or `::` for all addresses. */
  readonly address: string;
  readonly port: number;
}

export interface ListeningSocket extends NetworkPort {
  /** Identifies the socket among the files of processes. */
  readonly inode: number;
}

/** Files below `/proc/net`, in this order. */
export const SOCKET_FILES = ['tcp', 'tcp6', 'udp', 'udp6'] as const;

/** States of sockets that accept data from any sender: TCP's LISTEN, and UDP sockets that are not connected. */
const OPEN_STATES: Readonly<Record<string, string>> = { tcp: '0A', udp: '07' };

const MAPPED_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');

/** A line of a file: `  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 1234 …`, with the inode last. */
const LINE = /^\s*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2})(?: +\S+){5} +(\d+)/;

/** Reads the text of one of the files. Lines that cannot be read are left out. */
export function listeningSockets(file: (typeof SOCKET_FILES)[number], text: string): readonly ListeningSocket[] {
  const protocol = file.startsWith('tcp') ? 'tcp' : 'udp';
  return text.split('\n').flatMap((line) => {
    const [, address = '', port = '', state, inode] = LINE.exec(line) ?? [];
    if (state !== OPEN_STATES[protocol]) return [];
    return [{ protocol, address: addressOf(address), port: Number.parseInt(port, 16), inode: Number(inode) }];
  });
}

/** Addresses stand there as words of 32 bits in the order of the machine's bytes; all machines that matter are little-endian. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  for (let word = 0; word < bytes.length; word += 4) bytes.subarray(word, word + 4).reverse();
  // An address of IPv4 in a socket of IPv6.
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).equals(MAPPED_PREFIX);
  return formatIp(isMapped ? bytes.subarray(12) : bytes);
}
