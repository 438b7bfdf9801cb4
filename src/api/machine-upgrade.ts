/**
 * How administrators of a cluster replace the program of a machine, a server or an agent, with another release: the package comes
 * in parts, the program starts the upgrade, and says how it goes on. Servers and the endpoints of agents answer the same requests:
 *
 *     GET  /upgrade                     MachineReport
 *     PUT  /upgrade/SHA256?offset=N     a part of the package; N: the number of bytes before it
 *     POST /upgrade/SHA256              starts the upgrade to the package
 */
import { ApiError, badRequest, methodNotAllowed, noSuchPath } from './errors.ts';

export const UPGRADE_PATH = '/upgrade';
export const MAX_PART_BYTES = 1024 * 1024;

/** The user as which a server reaches the endpoints of agents. */
export const SERVER_USER = { name: 'kube-apiserver-kubelet-client', group: 'system:masters' } as const;

/** `running` until it has ended; `rolled-back`: the former release runs as before; `failed`: see the message. */
type UpgradeState = 'running' | 'succeeded' | 'rolled-back' | 'failed';

/** The last upgrade of a machine. */
export interface UpgradeRecord {
  /** The SHA-256 of the package, in hexadecimal digits; undefined: the directory of a package. */
  readonly package?: string | undefined;
  /** The release that ran before; empty when it is not known. */
  readonly from: string;
  readonly to: string;
  readonly state: UpgradeState;
  /** Its present step, or how it has ended. */
  readonly message: string;
}

export interface MachineReport {
  /** The release that runs. */
  readonly version: string;
  /** `off`: a flag of the machine says so; `with-server`: a node in the process of a server, which is upgraded as that. */
  readonly accepts: 'yes' | 'off' | 'with-server';
  readonly last?: UpgradeRecord | undefined;
  /** Why no server may stop now, because the etcd of another one is not in order. Absent: nothing is known against it. */
  readonly obstacle?: string | undefined;
}

interface PackagePart {
  readonly sha256: string;
  readonly offset: number;
  readonly content: Buffer;
}

/** Replaces the program of a machine. Methods reject with an ApiError. */
export interface UpgradePort {
  report(): Promise<MachineReport>;
  /** Keeps a part. One with offset 0 begins anew; any other must follow the one before it. */
  receive(part: PackagePart): Promise<void>;
  /** Resolves when the upgrade goes on in a process of its own, which outlives this one. */
  start(sha256: string): Promise<void>;
}

export interface UpgradeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Rejects when it is larger than MAX_PART_BYTES. */
  body(): Promise<Buffer>;
}

export const isUpgradePath = (path: string) => path === UPGRADE_PATH || path.startsWith(`${UPGRADE_PATH}/`);

/** Resolves with the answer to a client that may use the path. Rejects with an ApiError. */
export async function answerUpgrade(request: UpgradeRequest, port: UpgradePort): Promise<object> {
  const { method, path, query } = request;
  const name = path.slice(UPGRADE_PATH.length + 1);
  if (name === '') {
    if (method !== 'GET') throw methodNotAllowed();
    return port.report();
  }
  const sha256 = /^[0-9a-f]{64}$/.exec(name)?.[0];
  if (sha256 === undefined) throw noSuchPath();
  switch (method) {
    case 'PUT': {
      const offset = offsetOf(query);
      const content = await request.body();
      if (content.length > MAX_PART_BYTES) {
        throw new ApiError('RequestEntityTooLarge', `a part of a package has at most ${MAX_PART_BYTES} bytes`);
      }
      await port.receive({ sha256, offset, content });
      return { received: offset + content.length };
    }
    case 'POST':
      await port.start(sha256);
      return port.report();
    default:
      throw methodNotAllowed();
  }
}

function offsetOf(query: URLSearchParams): number {
  const text = query.get('offset') ?? '';
  if (!/^\d{1,12}$/.test(text)) throw badRequest('offset must be the number of bytes before the part');
  return Number(text);
}
