/** Starts the member of etcd that a server runs, and waits until it serves. */
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { TlsOptions } from '../../protocols/grpc/client.ts';
import { EtcdStore } from '../../store/etcd/etcd-store.ts';
import { MembersClient } from '../../store/etcd/members/client.ts';
import { StoreUnavailable } from '../../store/index.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';
import { openMemberKeys } from './certificates.ts';
import { clientUrl, type MemberAddress, type Membership, memberConfiguration, peerUrl } from './configuration.ts';
import { endLeftMember, memberArguments } from './left-process.ts';
import { type MemberPaths, memberPaths } from './paths.ts';
import { etcdEnvironment, findEtcd } from './program.ts';
import { Supervisor } from './supervisor.ts';

/** What a cluster is told of the member that its server runs. */
export interface MemberPlan {
  /** The name of the server, by which people know its member. */
  readonly name: string;
  readonly address: MemberAddress;
}

export interface MemberOptions extends Omit<Tools, 'clock'>, MemberPlan {
  /** Path of the data directory. */
  readonly directory: string;
  /** Where programs are searched. */
  readonly path: string;
  /** The clock of the machine. */
  readonly clock: Clock;
  readonly cleanup: Cleanup;
}

/** Resolves when the member serves: when most members of its cluster have a leader. */
export async function startMember(options: MemberOptions): Promise<void> {
  const { directory, path, clock, random, log, cleanup, address, name } = options;
  const paths = memberPaths(directory);
  const program = await findEtcd(path);
  await makeDirectories(paths.folder, 0o700);
  const tls = await openMemberKeys({ paths, host: address.host, clock, random });
  const left = await endLeftMember(paths, clock);
  if (left.length > 0) log.info('ended an etcd that had outlived its server', { pids: left });
  const membership = await membershipIn(paths, name);
  await writeWhole(paths.configuration, JSON.stringify(memberConfiguration(membership, address, paths), undefined, 2));
  const stopping = new AbortController();
  const supervisor = new Supervisor({
    command: [program, ...memberArguments(paths)],
    env: { PATH: path, ...etcdEnvironment() },
    logFile: paths.log,
    clock,
    random,
    log,
    mayStartAgain: async () => true,
  });
  cleanup.add(async () => {
    stopping.abort(new Error('the server stops'));
    await supervisor.stop();
  });
  const serving = { tls, clock, log, endpoint: clientUrl(address), signal: stopping.signal };
  await supervisor
    .start(() => untilServing(serving))
    .catch((cause: unknown) => {
      if (stopping.signal.aborted) throw cause;
      throw new AssemblyError(
        `etcd did not start: ${(cause as Error).message}; it listens on ${clientUrl(address)} and ${peerUrl(address)}, ` +
          `which --bind-address, --etcd-port and --etcd-peer-port choose, and writes its log to ${paths.log}`,
        { cause },
      );
    });
  await keepAddress(serving, peerUrl(address));
}

async function membershipIn({ folder }: MemberPaths, name: string): Promise<Membership> {
  const text = await readIfThere(`${folder}/membership.json`);
  return text === undefined ? { name, joins: [] } : (JSON.parse(text) as Membership);
}

interface Serving {
  readonly endpoint: string;
  readonly tls: TlsOptions;
  readonly clock: Clock;
  readonly log: Tools['log'];
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;
const PATIENCE_MS = 10_000;

async function untilServing({ endpoint, tls, clock, log, signal }: Serving): Promise<void> {
  let warnAt = clock.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      const store = await EtcdStore.open({ endpoints: [endpoint], tls, clock });
      return await store.close();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (clock.now() > warnAt) {
        log.warn('etcd does not serve yet: it waits for most of the other servers', { error: error.message });
        warnAt = clock.now() + PATIENCE_MS;
      }
    }
    await sleep(clock, RETRY_MS, signal);
  }
}

/** Tells the other members of a new address of this machine. */
async function keepAddress({ endpoint, tls, clock, log }: Serving, url: string): Promise<void> {
  const client = new MembersClient({ endpoints: [endpoint], tls, clock });
  try {
    const [{ id }, members] = await Promise.all([client.status(), client.list()]);
    const own = members.find((each) => each.id === id);
    if (own === undefined || own.peerUrls.includes(url)) return;
    await client.move(id, url);
    log.info('the other servers were told of the new address of this one', { from: own.peerUrls, to: url });
  } finally {
    client.close();
  }
}
