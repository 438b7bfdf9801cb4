import type { ClientTools } from '../client.ts';

export interface LeaderElectionOptions extends ClientTools {
  /** Ends the candidacy; a held lease is released. */
  readonly signal: AbortSignal;
  /** The lease, such as `kube-controller-manager` in `kube-system`. */
  readonly name: string;
  readonly namespace: string;
  /** Identifies the candidate; unique for every process. */
  readonly identity: string;
  /** Default: REMOTE_TIMES. */
  readonly times?: ElectionTimes;
  /** Default: all candidates are equal. */
  readonly precedence?: Precedence | undefined;
}

/** Other candidates that lead before this one. */
export interface Precedence {
  /** Reports whether there is such a candidate now: this one does not acquire the lease, and releases it. */
  yields(): boolean;
  /** Calls the listener when the answer may have changed. Returns what removes the listener. */
  onChange(listener: () => void): () => void;
}

export const NO_PRECEDENCE: Precedence = { yields: () => false, onChange: () => () => undefined };

/** All in milliseconds. */
export interface ElectionTimes {
  /** Time that other candidates wait after the last renewal that they saw; whole seconds. */
  readonly leaseDuration: number;
  /** Time after the last renewal when a leader steps down by itself; less than `leaseDuration`. */
  readonly renewDeadline: number;
  /** Interval between renewals, after which one without an answer is given up; also between attempts that failed. */
  readonly retryPeriod: number;
}

/** For candidates that reach the API over a network, as in Kubernetes. */
export const REMOTE_TIMES: ElectionTimes = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 };

/**
 * For candidates in the process of a server. A leader whose event loop is blocked for two seconds just before a renewal is
 * due keeps its lease; one that is killed is replaced within five.
 */
export const LOCAL_TIMES: ElectionTimes = { leaseDuration: 4000, renewDeadline: 3500, retryPeriod: 1000 };
