/** Finds out which processes have sockets. */
import { readdir, readFile, readlink } from 'node:fs/promises';

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
