/** Gives the space of deleted data back, member by member: a member answers nothing while it does so. */
import type { Logger } from '../../base/log.ts';
import type { Timer } from '../../base/time/clock.ts';
import { MembersClient } from '../../store/etcd/members/client.ts';
import type { MemberStatus } from '../../store/etcd/members/messages.ts';
import { type Store, StoreConflict } from '../../store/index.ts';
import type { Cleanup } from '../cleanup.ts';
import { type MembersOptions, statusOf, withMembers } from './members.ts';

const INTERVAL_MS = 3_600_000;
/** Less space is not worth the interruption. */
const MIN_FREE_BYTES = 64 * 2 ** 20;
const MIN_FREE_SHARE = 0.5;

/** Whose turn it was last, so that of several servers one does it in each interval. */
const KEY = '/quarterdeck/defragmentation';

export interface Defragmenting extends MembersOptions {
  readonly store: Store;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

/** A member as the plan sees it; without a status it did not answer. */
export interface PlannedMember {
  readonly clientUrls: readonly string[];
  readonly status: MemberStatus | undefined;
}

/** The members to defragment, in order: the leader last, and none while one is silent, since the others are needed then. */
export function planDefragmentation(members: readonly PlannedMember[]): readonly PlannedMember[] {
  if (members.some(({ status }) => status === undefined)) return [];
  const isLeader = ({ status }: PlannedMember) => status?.id === status?.leader;
  return members
    .filter(({ status }) => status && isWorthIt(status))
    .sort((a, b) => Number(isLeader(a)) - Number(isLeader(b)));
}

function isWorthIt({ fileBytes, usedBytes }: MemberStatus): boolean {
  const free = fileBytes - usedBytes;
  return free >= MIN_FREE_BYTES && free >= MIN_FREE_SHARE * fileBytes;
}

export function keepDefragmented(options: Defragmenting): void {
  const { clock, log, cleanup } = options;
  let timer: Timer | undefined;
  const schedule = () => {
    timer = clock.timer(INTERVAL_MS, () => {
      defragment(options)
        .catch((error: unknown) => log.warn('etcd could not be defragmented; the next hour will', { error }))
        .finally(schedule);
    });
  };
  schedule();
  cleanup.add(async () => timer?.cancel());
}

/** Does nothing when another server has had its turn in this interval. */
async function defragment(options: Defragmenting): Promise<void> {
  const { store, clock, log } = options;
  if (!(await takeTurn(store, clock.now()))) return;
  await withMembers(options, async (members, _, tls) => {
    const states = await Promise.all(
      members.map(async (each) => ({ ...each, status: await statusOf(each, tls, clock) })),
    );
    for (const { clientUrls, status } of planDefragmentation(states)) {
      const client = new MembersClient({
        endpoints: clientUrls,
        tls,
        clock,
        timeoutMilliseconds: DEFRAGMENT_TIMEOUT_MS,
      });
      try {
        await client.defragment();
        log.info('defragmented a member of etcd', { member: clientUrls, bytesBefore: status?.fileBytes });
      } finally {
        client.close();
      }
    }
  });
}

/** Of a file of 8 GiB, the most that etcd may have. */
const DEFRAGMENT_TIMEOUT_MS = 300_000;

async function takeTurn(store: Store, now: number): Promise<boolean> {
  const row = await store.get(KEY);
  const last = row === undefined ? 0 : Number(row.value.toString());
  if (now - last < INTERVAL_MS / 2) return false;
  try {
    await store.commit([{ key: KEY, value: Buffer.from(String(now)), expect: row?.revision ?? 0 }]);
    return true;
  } catch (error) {
    if (error instanceof StoreConflict) return false;
    throw error;
  }
}
