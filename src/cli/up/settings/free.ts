/** Ports, and ranges of services and pods, that no other cluster of this machine has. */
import { type StoreName, storeDriver } from '../../../store/drivers.ts';
import { rangesOverlap } from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';
import { checkFree } from '../../process/listen.ts';

/** Settings of another cluster that restrict the choice of ports and ranges. */
export interface Taken {
  /** Undefined for what only its rules show. */
  readonly directory?: string;
  readonly runtime?: string;
  readonly nodes?: number;
  readonly store?: StoreName;
  readonly port?: number;
  readonly serviceClusterIpRange?: string;
  readonly clusterCidr?: string;
}

const FIRST_PORT = 6443;
const MAX_PORTS = 1_000;
const MAX_RANGES = 32;
const MAX_POD_RANGES = 12;
const podRangeAt = (index: number) => `10.${244 + index}.0.0/16`;
const rangeAt = (index: number) => `10.${96 + index}.0.0/16`;

/** Port and range of the cluster of the default name. */
export const WELL_KNOWN: Taken = { port: FIRST_PORT, serviceClusterIpRange: rangeAt(0) };

/** The first port that no cluster has and nobody listens on; the well-known one when there are no other clusters. */
export async function nextPort(bindAddress: string, taken: readonly Taken[]): Promise<number> {
  if (taken.length === 0) return FIRST_PORT;
  for (let port = FIRST_PORT; port < FIRST_PORT + MAX_PORTS; port++) {
    if (!taken.some((other) => other.port === port) && (await isFree(bindAddress, port))) return port;
  }
  throw new CliError(`no free port from ${FIRST_PORT} on; choose one with --port`);
}

export function nextServiceRange(taken: readonly Taken[]): string {
  for (let index = 0; index < MAX_RANGES; index++) {
    const range = rangeAt(index);
    const isTaken = ({ serviceClusterIpRange: other }: Taken) => other !== undefined && rangesOverlap(other, range);
    if (!taken.some(isTaken)) return range;
  }
  throw new CliError('no free range of service addresses; choose one with --service-cluster-ip-range');
}

/**
 * Bridges on one machine cannot have the same addresses: a range that a cluster remembers, or that the machine already has
 * an address of, is not free.
 */
export function nextPodRange(taken: readonly Taken[], machineAddresses: readonly string[]): string {
  for (let index = 0; index < MAX_POD_RANGES; index++) {
    const range = podRangeAt(index);
    const isInUse = machineAddresses.some((address) => address.startsWith(range.slice(0, -'0.0/16'.length)));
    if (!isInUse && !taken.some((other) => rangesOverlap(other.clusterCidr ?? podRangeAt(0), range))) return range;
  }
  throw new CliError('no free range of pod addresses; choose one with --cluster-cidr');
}

/** Reports whether a cluster has rules on this machine for the addresses of its services and pods. */
export function hasRules({ runtime, nodes, store }: Pick<Taken, 'runtime' | 'nodes' | 'store'>): boolean {
  // A server on a store that it shares runs no nodes unless it is told to.
  const hasNodes = nodes === undefined ? !(runtime === 'auto' && store && storeDriver(store).shared) : nodes > 0;
  return runtime !== 'simulated' && hasNodes;
}

/** Says which range of a cluster overlaps with one that another cluster has rules for, as the start of a sentence. */
export function clashOf(own: Taken, other: Taken): string | undefined {
  if (!hasRules(other)) return undefined;
  for (const [flag, range, taken] of [
    ['--service-cluster-ip-range', own.serviceClusterIpRange, other.serviceClusterIpRange],
    ['--cluster-cidr', own.clusterCidr, other.clusterCidr],
  ]) {
    if (range && taken && rangesOverlap(range, taken)) return `${flag} ${range} overlaps with ${taken}`;
  }
  return undefined;
}

/** Rejects when no port of the host can be listened on. */
async function isFree(host: string, port: number): Promise<boolean> {
  try {
    await checkFree({ host, port });
    return true;
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code === 'EADDRINUSE') return false;
    throw error;
  }
}
