/** What a cluster runs with: what was given, then what its directory remembers, then the defaults. */
import { createServer } from 'node:net';
import type { PortRange } from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';
import type { StoreName, UpFlags } from '../flags.ts';
import { checkEtcdFlags, type EtcdFlags } from '../store/etcd.ts';

/** What the directory keeps, so that the next start is the same cluster at the same address. */
export interface Remembered extends EtcdFlags {
  readonly bindAddress: string;
  readonly port: number;
  readonly store: StoreName;
  readonly serviceClusterIpRange: string;
  readonly serviceNodePortRange: PortRange;
}

/** The flags that settle it. */
export type Given = EtcdFlags &
  Pick<UpFlags, 'name' | 'bindAddress' | 'port' | 'store' | 'serviceClusterIpRange' | 'serviceNodePortRange'>;

const DEFAULT_NAME = 'quarterdeck';
const DEFAULT_PORT = 6443;

/**
 * The cluster of the default name has the well-known port and range; every other takes the next ones that no cluster of
 * this machine remembers.
 */
export async function settle(
  flags: Given,
  remembered: Partial<Remembered>,
  others: () => Promise<readonly Partial<Remembered>[]>,
): Promise<Remembered> {
  const known = { ...remembered, ...givenOf(flags) };
  refuseMoves(flags, remembered);
  const bindAddress = known.bindAddress ?? '127.0.0.1';
  const taken =
    known.port === undefined || known.serviceClusterIpRange === undefined ? await takenBy(flags, others) : [];
  const store = known.store ?? 'embedded';
  return {
    bindAddress,
    port: known.port ?? (await nextPort(bindAddress, taken)),
    store,
    ...(store === 'etcd' ? etcd(known) : {}),
    serviceClusterIpRange: known.serviceClusterIpRange ?? nextRange(taken),
    serviceNodePortRange: known.serviceNodePortRange ?? { first: 30_000, last: 32_767 },
  };
}

function givenOf(flags: Given): Partial<Remembered> {
  const { bindAddress, port, store, serviceClusterIpRange, serviceNodePortRange } = flags;
  return present({ bindAddress, port, store, serviceClusterIpRange, serviceNodePortRange, ...etcdOf(flags) });
}

function etcdOf({ etcdServers, etcdCafile, etcdCertfile, etcdKeyfile }: EtcdFlags): EtcdFlags {
  return { etcdServers, etcdCafile, etcdCertfile, etcdKeyfile };
}

function present<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

/** Objects live in one store and hold addresses of one range: a directory keeps both. */
function refuseMoves(flags: Given, remembered: Partial<Remembered>): void {
  const { store, serviceClusterIpRange: range } = remembered;
  if (store !== undefined && store !== 'memory' && flags.store !== undefined && flags.store !== store) {
    throw new CliError(
      `the directory keeps its objects in ${store}: --store ${flags.store} needs a directory of its own`,
    );
  }
  const given = flags.serviceClusterIpRange;
  if (range !== undefined && store !== 'memory' && given !== undefined && given !== range) {
    throw new CliError(`services of this cluster have addresses of ${range}: --service-cluster-ip-range cannot change`);
  }
  checkEtcdFlags(flags, (flags.store ?? store) === 'etcd');
}

function etcd(known: EtcdFlags): EtcdFlags {
  if (known.etcdServers) return present(etcdOf(known));
  throw new CliError('--store etcd needs --etcd-servers');
}

async function takenBy(flags: Given, others: () => Promise<readonly Partial<Remembered>[]>) {
  return flags.name === DEFAULT_NAME
    ? []
    : [{ port: DEFAULT_PORT, serviceClusterIpRange: range(0) }, ...(await others())];
}

async function nextPort(bindAddress: string, taken: readonly Partial<Remembered>[]): Promise<number> {
  if (taken.length === 0) return DEFAULT_PORT;
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + 1_000; port++) {
    if (!taken.some((other) => other.port === port) && (await isFree(bindAddress, port))) return port;
  }
  throw new CliError(`no free port from ${DEFAULT_PORT} on; give one with --port`);
}

function nextRange(taken: readonly Partial<Remembered>[]): string {
  for (let index = 0; index < 16; index++) {
    if (!taken.some((other) => other.serviceClusterIpRange === range(index))) return range(index);
  }
  throw new CliError('no free range of service addresses; give one with --service-cluster-ip-range');
}

const range = (index: number) => `10.${96 + index}.0.0/16`;

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
