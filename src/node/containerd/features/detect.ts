/** Finds out whether this machine has a containerd that a node can use. Starts nothing. */
import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../base/time/clock.ts';
import { Connection } from '../calls/connection.ts';
import { cri } from '../calls/methods.ts';
import { exists, findCni, findProgram, hasCapability } from '../own/machine.ts';

export const MACHINE_SOCKET = '/run/containerd/containerd.sock';

const ANSWER_TIMEOUT_MS = 1_000;
const CAP_NET_ADMIN = 12n;
const CAP_SYS_ADMIN = 21n;

export interface DetectOptions {
  /** Path of a CRI socket; undefined: that of the machine, or an own containerd. */
  readonly socket: string | undefined;
  readonly isRoot: boolean;
  /** Directories to search for programs, as in PATH. */
  readonly path: string;
  readonly clock: Clock;
}

/**
 * `found` describes the containerd that would be used; `missing` is the reason why there is none, as part of a
 * sentence.
 */
export type Detected = { readonly found: string } | { readonly missing: string };

export async function detectContainerd({ socket, isRoot, path, clock }: DetectOptions): Promise<Detected> {
  if (socket !== undefined) {
    return (await answersCri(socket, clock)) ? { found: socket } : { missing: `nothing answers CRI at ${socket}` };
  }
  const containerd = await findProgram('containerd', path);
  const isRunning = await exists(MACHINE_SOCKET);
  if (containerd === undefined && !isRunning) return { missing: 'containerd is not installed' };
  if (!isRoot) return { missing: 'containerd is installed, but needs root' };
  if (isRunning && (await answersCri(MACHINE_SOCKET, clock))) return { found: MACHINE_SOCKET };
  if (containerd === undefined) return { missing: `nothing answers CRI at ${MACHINE_SOCKET}` };
  const runs = async (program: string) => (await findProgram(program, path)) !== undefined;
  if (!(await runs('runc')) && !(await runs('crun'))) return { missing: 'containerd is installed, but runc is not' };
  const plugins = await findCni();
  if (plugins === undefined || !(await exists(join(plugins, 'host-local'), constants.X_OK))) {
    return { missing: 'containerd is installed, but the CNI plugins are not' };
  }
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  if (!hasCapability(status, CAP_SYS_ADMIN) || !hasCapability(status, CAP_NET_ADMIN)) {
    return { missing: 'containerd is installed, but this process may not administer the system and its network' };
  }
  return { found: 'one that qd runs' };
}

/** Reports whether CRI is served. The containerd of Docker, for example, turns it off. */
export async function answersCri(socket: string, clock: Clock): Promise<boolean> {
  const connection = new Connection({ socket, clock });
  try {
    await connection.call(cri.version, {}, ANSWER_TIMEOUT_MS);
    return true;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}
