import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Server } from '../../../server/index.ts';
import type { NodeConnection } from '../../../server/outbound/nodes/connection.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import type { Settings } from '../flags.ts';
import type { OpenPort } from '../listeners/open-ports.ts';
import type { OpeningNetwork } from './network.ts';

/** What nodes in the process of the cluster work with. */
export interface NodeDependencies {
  readonly server: Server;
  readonly cleanup: Cleanup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: Settings;
  /** Path of the data directory. */
  readonly directory: string;
  /** Addresses for the resolv.conf of real pods. */
  readonly clusterDns: readonly string[];
  /** Whether other servers on the same store may run nodes of the cluster. */
  readonly isShared: boolean;
  /** How agents in other processes are reached. */
  readonly remote: NodeConnection;
  /** Certificates of the cluster's authorities, as PEM. */
  readonly authority: () => string;
  /** Whether pods go on when the program ends, and with them rules and routes. */
  readonly outlives: () => Promise<boolean>;
  /** The process that listens for the cluster. */
  readonly network: OpeningNetwork | undefined;
  /** Resolves when the cluster is ready. */
  readonly whenReady: Promise<void>;
  /** The ports of agents on addresses of the machine are added. */
  readonly openPorts: OpenPort[];
}
