/** Reads which ports of a network namespace have listeners, from the files that Linux has for that. */

import { readdir, readFile, readlink } from 'node:fs/promises';
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

export interface SocketHolder {
  readonly pid: number;
  /** The name of its program. */
  readonly program: string;
}

const SOCKET = /^socket:\[(\d+)\]$/;

/** Finds holders by inode. Sockets of processes that this one may not look at are left out. */
export async function socketHolders(inodes: ReadonlySet<number>): Promise<ReadonlyMap<number, SocketHolder>> {
  const found = new Map<number, SocketHolder>();
  if (inodes.size === 0) return found;
  // Processes end and close files meanwhile.
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of processes) {
    const own = [...(await socketsOf(pid))].filter((inode) => inodes.has(inode));
    if (own.length === 0) continue;
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    // Programs choose their names.
    const program = name.trim().replace(/[^\w.+-]/g, '?');
    for (const inode of own) if (!found.has(inode)) found.set(inode, { pid: Number(pid), program });
    if (found.size === inodes.size) break;
  }
  return found;
}

/** The inodes of the sockets of some processes. */
export async function socketsOfProcesses(pids: readonly number[]): Promise<ReadonlySet<number>> {
  const found = await Promise.all(pids.map((pid) => socketsOf(String(pid))));
  return new Set(found.flatMap((inodes) => [...inodes]));
}

async function socketsOf(pid: string): Promise<ReadonlySet<number>> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  return new Set(links.map((link) => Number(SOCKET.exec(link)?.[1])));
}
