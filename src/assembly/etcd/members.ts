/** The servers of a cluster with an etcd of its own, as their members are in etcd. */
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { TlsOptions } from '../../protocols/grpc/client.ts';
import { MembersClient } from '../../store/etcd/members/client.ts';
import type { EtcdMember, MemberStatus } from '../../store/etcd/members/messages.ts';
import { AssemblyError } from '../assembly-error.ts';
import { readMemberKeys } from './certificates.ts';
import { memberPaths } from './paths.ts';

export interface MembersOptions {
  /** The data directory of a server. */
  readonly directory: string;
  /** Where its member serves. */
  readonly endpoints: readonly string[];
  readonly clock: Clock;
}

export interface ServerState {
  /** Empty while the server joins. */
  readonly name: string;
  readonly url: string;
  readonly state: 'leader' | 'follower' | 'joining' | 'silent';
  readonly fileBytes: number | undefined;
}

export async function listServers(options: MembersOptions): Promise<readonly ServerState[]> {
  return withMembers(options, async (members, _, tls) =>
    Promise.all(
      members.map(async (member): Promise<ServerState> => {
        const status = await statusOf(member, tls, options.clock);
        const { name, peerUrls } = member;
        return { name, url: peerUrls.join(','), state: stateOf(member, status), fileBytes: status?.fileBytes };
      }),
    ),
  );
}

function stateOf({ id, isLearner }: EtcdMember, status: MemberStatus | undefined): ServerState['state'] {
  if (isLearner) return 'joining';
  if (status === undefined) return 'silent';
  return status.leader === id ? 'leader' : 'follower';
}

const STATUS_TIMEOUT_MS = 3_000;

/** Resolves with undefined when the member does not answer. */
export async function statusOf(
  { clientUrls }: EtcdMember,
  tls: TlsOptions,
  clock: Clock,
): Promise<MemberStatus | undefined> {
  if (clientUrls.length === 0) return undefined;
  const client = new MembersClient({ endpoints: clientUrls, tls, clock, timeoutMilliseconds: STATUS_TIMEOUT_MS });
  try {
    return await client.status();
  } catch {
    return undefined;
  } finally {
    client.close();
  }
}

/** etcd changes its members only when all of those that live have been connected for five seconds. */
const REMOVE_TIMEOUT_MS = 15_000;
const RETRY_MS = 500;

/** Removes a server, by its name or its URL. Its etcd ends, and with it the server. */
export async function removeServer(options: MembersOptions, name: string): Promise<void> {
  const { clock } = options;
  await withMembers(options, async (members, client) => {
    const found = members.filter((each) => each.name === name || each.peerUrls.includes(name));
    const [member] = found;
    if (member === undefined) throw new AssemblyError(`there is no server "${name}"; qd server list shows the servers`);
    if (found.length > 1)
      throw new AssemblyError(`several servers have the name "${name}"; name the URL of one of them`);
    if (!member.isLearner && members.filter(({ isLearner }) => !isLearner).length === 1) {
      throw new AssemblyError(
        `"${name}" is the only server, and has all objects of the cluster; qd reset removes it with them`,
      );
    }
    await untilAllowed(clock, `"${name}"`, () => client.remove(member.id));
  });
}

/** Takes the server of the directory, which runs, out of its cluster. Resolves with the names of the others; none when it is the only one. */
export async function leaveServers(options: MembersOptions): Promise<readonly string[]> {
  return withMembers(options, async (_, client) => {
    const { id } = await client.status();
    return untilAllowed(options.clock, 'this server', async () => {
      const members = await client.list();
      const others = members.filter((each) => each.id !== id);
      // Another one may have left meanwhile.
      if (others.some(({ isLearner }) => !isLearner)) await client.remove(id);
      return others.map(({ name, peerUrls }) => name || peerUrls.join(','));
    });
  });
}

/** Repeats a change of the members that etcd rejects while too few of them live. */
async function untilAllowed<T>(clock: Clock, what: string, change: () => Promise<T>): Promise<T> {
  const deadline = clock.now() + REMOVE_TIMEOUT_MS;
  for (;;) {
    try {
      return await change();
    } catch (cause) {
      if (clock.now() > deadline) {
        const { message } = cause as Error;
        throw new AssemblyError(
          `etcd does not remove ${what} now: ${message}; without it, too few servers would live`,
          {
            cause,
          },
        );
      }
    }
    await sleep(clock, RETRY_MS);
  }
}

/** Calls `work` with all members, and what reaches them. */
export async function withMembers<T>(
  { directory, endpoints, clock }: MembersOptions,
  work: (members: readonly EtcdMember[], client: MembersClient, tls: TlsOptions) => Promise<T>,
): Promise<T> {
  const tls = await readMemberKeys(memberPaths(directory));
  const client = new MembersClient({ endpoints, tls, clock });
  try {
    return await work(await client.list(), client, tls);
  } finally {
    client.close();
  }
}
