/** Makes a new server's member one of the cluster's: added as a learner, started, and promoted when it has all data. */
import type { Logger } from '../../../base/log.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { TlsOptions } from '../../../protocols/grpc/client.ts';
import { MembersClient } from '../../../store/etcd/members/client.ts';
import type { EtcdMember } from '../../../store/etcd/members/messages.ts';
import { AssemblyError } from '../../assembly-error.ts';
import type { Peer } from '../configuration.ts';

export interface EnterOptions {
  readonly name: string;
  /** Where the other members will reach this one. */
  readonly url: string;
  /** Where members serve. */
  readonly endpoints: readonly string[];
  readonly tls: TlsOptions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** etcd takes one learner at a time, and none while a member that was just added is not connected. */
const ADD_TIMEOUT_MS = 60_000;
const RETRY_MS = 500;
/** How long a member of the same name is asked whether it lives. */
const ALIVE_TIMEOUT_MS = 3_000;

/** Resolves with the other members. May be repeated after a failure. */
export async function enterCluster(options: EnterOptions): Promise<readonly Peer[]> {
  const { endpoints, tls, clock, name, url, log } = options;
  const client = new MembersClient({ endpoints, tls, clock });
  try {
    const members = await client.list();
    const isOwn = ({ peerUrls }: EtcdMember) => peerUrls.includes(url);
    // One that was added by an attempt before this one has no name yet.
    if (members.some((each) => isOwn(each) && each.name === '')) return peersOf(members, isOwn);
    for (const former of members.filter((each) => isOwn(each) || each.name === name)) {
      // At this address there is nobody but this machine.
      if (!isOwn(former) && (await isAlive(former, options))) throw nameTaken(former);
      await client.remove(former.id);
      log.info('removed the member that this machine had before', { name: former.name, peerUrls: former.peerUrls });
    }
    return peersOf(await addLearner(client, options), isOwn);
  } finally {
    client.close();
  }
}

function nameTaken({ name, peerUrls }: EtcdMember): AssemblyError {
  return new AssemblyError(
    `a server "${name}" runs at ${peerUrls.join(', ')}; choose another --server-name, or remove that one first, on a server: qd server remove ${name}`,
  );
}

/** Their names mean nothing here, and must differ. */
function peersOf(members: readonly EtcdMember[], isOwn: (member: EtcdMember) => boolean): readonly Peer[] {
  return members
    .filter((each) => !isOwn(each))
    .flatMap(({ id, peerUrls }) => peerUrls.map((url) => ({ name: `member-${id.toString(16)}`, url })));
}

async function isAlive({ clientUrls }: EtcdMember, { tls, clock }: EnterOptions): Promise<boolean> {
  if (clientUrls.length === 0) return false;
  const client = new MembersClient({ endpoints: clientUrls, tls, clock, timeoutMilliseconds: ALIVE_TIMEOUT_MS });
  try {
    await client.status();
    return true;
  } catch {
    return false; // It does not answer.
  } finally {
    client.close();
  }
}

async function addLearner(client: MembersClient, options: EnterOptions): Promise<readonly EtcdMember[]> {
  const { url, clock, signal, log } = options;
  const deadline = clock.now() + ADD_TIMEOUT_MS;
  for (;;) {
    try {
      return await client.addLearner(url);
    } catch (cause) {
      if (clock.now() > deadline) throw await explainRejection(client, cause as Error);
      log.debug('etcd takes no member now', { error: cause });
    }
    await sleep(clock, RETRY_MS, signal);
  }
}

async function explainRejection(client: MembersClient, cause: Error): Promise<AssemblyError> {
  const learners = (await client.list()).filter(({ isLearner }) => isLearner);
  const others = learners.map(({ name, peerUrls }) => name || peerUrls.join(', '));
  const why =
    others.length === 0
      ? cause.message
      : `it waits for ${others.join(', ')}, which has not caught up; if that machine does not come back, run on a server: qd server remove ${others[0]}`;
  return new AssemblyError(`etcd takes no new member: ${why}`, { cause });
}

/** Lets the member vote as soon as it has all data. */
export async function promote(id: bigint, options: Omit<EnterOptions, 'name' | 'url'>): Promise<void> {
  const { endpoints, tls, clock, log, signal } = options;
  const client = new MembersClient({ endpoints, tls, clock });
  try {
    for (;;) {
      try {
        return await client.promote(id);
      } catch (error) {
        log.debug('the member has not received all data yet', { error });
      }
      await sleep(clock, RETRY_MS, signal);
    }
  } finally {
    client.close();
  }
}
