/**
 * Elects a leader among several candidates by a Lease that the leader renews. Expiry is measured from when this
 * candidate saw a renewal, so clocks need not agree.
 */
import { Candidate, type Term } from './candidate.ts';
import type { LeaderElectionOptions } from './options.ts';

/**
 * Calls `lead` whenever this candidate becomes the leader. The signal of the term is aborted as soon as leadership is no
 * longer certain; the next attempt starts only after `lead` has ended. Resolves when the candidacy has ended.
 */
export async function runWhileLeader(
  options: LeaderElectionOptions,
  lead: (term: Term) => Promise<void>,
): Promise<void> {
  const { log, signal, identity, name } = options;
  const candidate = new Candidate(options);
  for (;;) {
    await candidate.untilFirst();
    if (signal.aborted) return;
    if (await candidate.acquire()) {
      log.info('became leader', { lease: name, identity });
      await candidate.lead(lead);
      log.info('stopped leading', { lease: name, identity });
    } else {
      await candidate.untilFree();
    }
  }
}
