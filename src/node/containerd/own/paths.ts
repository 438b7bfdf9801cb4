import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Paths of the files of an own containerd. */
export interface OwnPaths {
  readonly directory: string;
  readonly root: string;
  readonly state: string;
  readonly socket: string;
  readonly config: string;
  /** Base specification of every container. */
  readonly baseSpec: string;
  readonly log: string;
  /** The identity of the process. */
  readonly identity: string;
  readonly registries: string;
  readonly cniConfiguration: string;
  /** The addresses that host-local has given out. */
  readonly cniAddresses: string;
}

/** The address of a unix socket has 108 bytes with the final zero; containerd appends `.ttrpc` for another socket. */
const MAX_SOCKET_BYTES = 107 - '.ttrpc'.length;

export function ownPaths(directory: string): OwnPaths {
  const below = (...names: string[]) => join(directory, ...names);
  const socket = below('containerd.sock');
  const short = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return {
    directory,
    root: below('root'),
    state: below('state'),
    socket: Buffer.byteLength(socket) <= MAX_SOCKET_BYTES ? socket : `/run/quarterdeck/${short}/containerd.sock`,
    config: below('config.toml'),
    baseSpec: below('base-spec.json'),
    log: below('containerd.log'),
    identity: below('containerd.json'),
    registries: below('registries'),
    cniConfiguration: below('cni', 'net.d'),
    cniAddresses: below('cni', 'addresses'),
  };
}
