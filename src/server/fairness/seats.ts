/** How many seats each level has, and whether one may be taken. Pure. */
import type { PriorityLevelConfiguration } from '../../kinds/groups/flowcontrol/priority-level-configuration.ts';

/** In seats. */
export interface Bounds {
  /** Its share of all seats. */
  readonly nominal: number;
  /** What it never lends. */
  readonly lower: number;
  /** With all that it may borrow. */
  readonly upper: number;
}

type Spec = PriorityLevelConfiguration['spec'];

/** By shares, rounded up: together they may have a few seats more than there are. */
export function boundsOf(specs: ReadonlyMap<string, Spec>, total: number): Map<string, Bounds> {
  const parts = [...specs].map(([name, spec]) => ({ name, ...sharesOf(spec) }));
  const sum = parts.reduce((all, { shares }) => all + shares, 0);
  return new Map(
    parts.map(({ name, shares, lendable, borrowing }) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const lower = nominal - Math.round((nominal * lendable) / 100);
      const upper = borrowing === undefined ? total : nominal + Math.round((nominal * borrowing) / 100);
      return [name, { nominal, lower, upper: Math.max(upper, nominal) }];
    }),
  );
}

function sharesOf({ limited, exempt }: Spec): { shares: number; lendable: number; borrowing?: number | undefined } {
  const { nominalConcurrencyShares: shares = 0, lendablePercent: lendable = 0 } = limited ?? exempt ?? {};
  return { shares, lendable, borrowing: limited?.borrowingLimitPercent };
}

export interface Taken {
  readonly bounds: Bounds;
  /** Seats that are in use. */
  readonly executing: number;
}

/**
 * Whether a level may have so many more seats. Beyond its own it borrows what others have and do not use, but for what
 * they never lend: those seats are free for them at once, and the others within the time of a request.
 */
export function mayTake(level: Taken, seats: number, all: Iterable<Taken>, total: number): boolean {
  const wanted = level.executing + seats;
  if (wanted <= level.bounds.nominal) return true;
  if (wanted > level.bounds.upper) return false;
  let taken = wanted;
  for (const other of all) if (other !== level) taken += Math.max(other.executing, other.bounds.lower);
  return taken <= total;
}
