/** Starts the member of etcd that a server runs, and waits until it serves. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { moveAside } from '../../base/files/own/move-aside.ts';
import type { Clock } from '../../base/time/clock.ts';
import { MembersClient } from '../../store/etcd/members/client.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';
import { openMemberKeys, writeEtcdAuthority } from './certificates.ts';
import { clientUrl, type MemberAddress, memberConfiguration, peerUrl } from './configuration.ts';
import type { JoinBundle } from './join/bundle.ts';
import { enterCluster, promote } from './join/enter.ts';
import { endLeftMember, memberArguments } from './left-process.ts';
import { checkMemberRelease, keepMemberRelease } from './member-release.ts';
import { type MemberPaths, memberPaths } from './paths.ts';
import { etcdEnvironment, findEtcd } from './program.ts';
import { EndedEarly, Supervisor } from './supervisor.ts';
import { type Serving, untilServing } from './until-serving.ts';

/** What a cluster is told of the member that its server runs. */
export interface MemberPlan {
  /** The name of the server, by which people know its member. */
  readonly name: string;
  readonly address: MemberAddress;
  /** Called when the server was removed from its cluster, and can do nothing any more. */
  readonly removed: () => void;
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
  const { directory, path, clock, random, log, cleanup, address, name, removed } = options;
  const paths = memberPaths(directory);
  const program = await findEtcd(path);
  await checkMemberRelease(paths, program);
  await makeDirectories(paths.folder, 0o700);
  const tls = await openMemberKeys({ paths, host: address.host, clock, random });
  const left = await endLeftMember(paths, clock);
  if (left.length > 0) log.info('ended an etcd that had outlived its server', { pids: left });
  const stopping = new AbortController();
  const serving = { tls, clock, log, endpoint: clientUrl(address), signal: stopping.signal };
  const endpoints = await joinedEndpoints(paths);
  const isNew = !existsSync(paths.data);
  const joins = isNew && endpoints ? await enterCluster({ ...serving, name, endpoints, url: peerUrl(address) }) : [];
  await writeWhole(
    paths.configuration,
    JSON.stringify(memberConfiguration({ name, joins }, address, paths), undefined, 2),
  );
  const supervisor = new Supervisor({
    command: [program.path, ...memberArguments(paths)],
    env: { PATH: path, ...etcdEnvironment() },
    logFile: paths.log,
    clock,
    random,
    log,
    mayStartAgain(how) {
      if (how !== REMOVED) return true;
      log.error('this server was removed from its cluster, and stops');
      removed();
      return false;
    },
  });
  cleanup.add(async () => {
    stopping.abort(new Error('the server stops'));
    await supervisor.stop();
  });
  const untilReady = async () => {
    await promoteOwn(serving, endpoints ?? []);
    await untilServing(serving);
  };
  await supervisor.start(untilReady).catch((cause: unknown) => {
    if (stopping.signal.aborted) throw cause;
    if (cause instanceof EndedEarly && cause.how === REMOVED) throw wasRemoved(directory, cause);
    throw new AssemblyError(
      `etcd did not start: ${(cause as Error).message}; it listens on ${clientUrl(address)} and ${peerUrl(address)}, ` +
        `which --bind-address, --etcd-port and --etcd-peer-port choose, and writes its log to ${paths.log}`,
      { cause },
    );
  });
  await keepMemberRelease(paths, program.release);
  await keepAddress(serving, peerUrl(address));
}

/** etcd ends so by itself when its member was removed, and only then. */
const REMOVED = 'code 0';

const wasRemoved = (directory: string, cause: Error) =>
  new AssemblyError(
    `this server was removed from its cluster; to join again, remove ${directory} with qd reset, and run the command that qd token create --server prints on another server`,
    { cause },
  );

/** Where other members serve, when the server has joined a cluster. */
async function joinedEndpoints({ joined }: MemberPaths): Promise<readonly string[] | undefined> {
  const text = await readIfThere(joined);
  return text === undefined ? undefined : (JSON.parse(text) as { readonly endpoints: readonly string[] }).endpoints;
}

/** Puts what a server that joins has got where its start expects it. */
export async function prepareJoin(directory: string, { etcdAuthority, etcdEndpoints }: JoinBundle): Promise<void> {
  const paths = memberPaths(directory);
  await writeEtcdAuthority(paths, etcdAuthority);
  await writeWhole(paths.joined, JSON.stringify({ endpoints: etcdEndpoints }));
}

/** Removes the member of a data directory whose cluster does not use it. */
export async function discardMember(directory: string, clock: Clock): Promise<void> {
  const paths = memberPaths(directory);
  await endLeftMember(paths, clock);
  await rm(paths.folder, { recursive: true, force: true });
}

/** Moves the stopped member of a cluster away that does not use it any more. */
export function moveMemberAside(directory: string, clock: Clock): Promise<string | undefined> {
  return moveAside(memberPaths(directory).folder, clock);
}

/** How long etcd may take until it answers at all. */
const STATUS_TIMEOUT_MS = 60_000;

/** A learner that has received all data becomes a member that votes. */
async function promoteOwn(options: Serving, others: readonly string[]): Promise<void> {
  const { endpoint, tls, clock } = options;
  const client = new MembersClient({ endpoints: [endpoint], tls, clock, timeoutMilliseconds: STATUS_TIMEOUT_MS });
  try {
    const { id, isLearner } = await client.status();
    if (!isLearner) return;
    await promote(id, { ...options, endpoints: others });
  } finally {
    client.close();
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
