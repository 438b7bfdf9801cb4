/** Context that the parts of a cluster are assembled with. */
import type { Clock } from '../base/time/clock.ts';
import type { Tools } from '../base/tools.ts';
import type { Cleanup } from './cleanup.ts';

export type { Tools } from '../base/tools.ts';

/** Resources that the process gives to parts that run on its machine. `clock` is that of the cluster. */
export interface Environment extends Tools {
  /** Closes what parts have opened. */
  readonly cleanup: Cleanup;
  /** The clock of the machine, for connections and certificates: other programs check them by their own time. */
  readonly machineClock: Clock;
  /** Where programs are searched: the value of PATH. */
  readonly path: string;
  /** Adds a listener for the replacement of keys in the data directory; returns what removes it. */
  readonly onRotated: OnRotated;
  /** Parts add what they listen on. */
  readonly openPorts: OpenPort[];
}

export type OnRotated = (listener: () => void) => () => void;

export interface OpenPort {
  readonly address: string;
  readonly port: number;
  /** Who answers there. */
  readonly what: string;
}

/** Where the API is served. */
export interface ApiAddress {
  readonly bindAddress: string;
  readonly port: number;
  readonly serviceClusterIpRange: string;
  readonly clusterDomain: string;
  /** Names and addresses that clients use besides those of this machine, such as that of a load balancer. */
  readonly tlsSan: readonly string[];
  /** True when pods with a network of their own reach the server, at an address besides `bindAddress` if need be. */
  readonly forPods: boolean;
}
