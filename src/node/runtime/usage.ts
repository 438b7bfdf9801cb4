/** Parts of what containers and sandboxes use. */

/** How often a limit of processor time has held up a container. */
export interface Throttling {
  /** Periods in which it wanted to run. */
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledNanoseconds: number;
}

/** Traffic of an interface. */
export interface InterfaceUsage {
  readonly interface: string;
  readonly received: TrafficCounters;
  readonly sent: TrafficCounters;
}

export interface TrafficCounters {
  readonly bytes: number;
  readonly packets: number;
  readonly errors: number;
  readonly dropped: number;
}
