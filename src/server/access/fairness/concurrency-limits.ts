/** How many seats each priority level has, and whether it may take one. Pure. */
import type { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';

/** In seats. */
export interface ConcurrencyLimits {
  /** The level's share of all seats. */
  readonly nominal: number;
  /** What it never lends. */
  readonly lower: number;
  /** Including all that it may borrow. */
  readonly upper: number;
}

type Spec = PriorityLevelConfiguration['spec'];

/** Divides the seats by shares. They are rounded up, so the levels together may have a few more than `total`. */
export function concurrencyLimitsOf(specs: ReadonlyMap<string, Spec>, total: number): Map<string, ConcurrencyLimits> {
  const levels = [...specs].map(([name, spec]) => ({ name, ...sharesOf(spec) }));
  const sum = levels.reduce((all, { shares }) => all + shares, 0);
  return new Map(
    levels.map(({ name, shares, lendablePercent, borrowingLimitPercent }) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const lower = nominal - percentOf(nominal, lendablePercent);
      const upper = borrowingLimitPercent === undefined ? total : nominal + percentOf(nominal, borrowingLimitPercent);
      return [name, { nominal, lower, upper: Math.max(upper, nominal) }];
    }),
  );
}

function percentOf(seats: number, percent: number): number {
  return Math.round((seats * percent) / 100);
}

interface Shares {
  readonly shares: number;
  readonly lendablePercent: number;
  readonly borrowingLimitPercent?: number | undefined;
}

function sharesOf({ limited, exempt }: Spec): Shares {
  const { nominalConcurrencyShares: shares = 0, lendablePercent = 0 } = limited ?? exempt ?? {};
  return { shares, lendablePercent, borrowingLimitPercent: limited?.borrowingLimitPercent };
}

export interface SeatUsage {
  readonly limits: ConcurrencyLimits;
  readonly executingSeats: number;
}

/**
 * Whether a level may take this many more seats. Beyond its nominal limit it borrows what other levels do not use, except
 * what they never lend: a level gets those back at once, and the others when the requests that borrowed them end.
 */
export function canTakeSeats(level: SeatUsage, seats: number, all: Iterable<SeatUsage>, total: number): boolean {
  const wanted = level.executingSeats + seats;
  if (wanted <= level.limits.nominal) return true;
  if (wanted > level.limits.upper) return false;
  let taken = wanted;
  for (const other of all) if (other !== level) taken += Math.max(other.executingSeats, other.limits.lower);
  return taken <= total;
}
