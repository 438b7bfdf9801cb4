/**
 * All settings of `qd up`. Each concern describes its own in a `flags.ts`; what is parsed, shown as help, remembered in the
 * data directory and filled in by default derives from these descriptions.
 */
import type { Flag, ValuesOf } from '../../base/flag.ts';
import { newClusterFlags } from '../flags/cluster.ts';
import { apiFlags } from './api/flags.ts';
import { componentFlags } from './components/flags.ts';
import { detachFlags } from './detach/flags.ts';
import { identityFlags } from './identity/flags.ts';
import { listenerFlags } from './listeners/flags.ts';
import { auditFlags, logFlags } from './observability/flags.ts';
import { backupFlags } from './store/backups/flags.ts';
import { storeFlags } from './store/flags.ts';
import { testingFlags } from './testing/flags.ts';

/** In the order of the help. */
export const flagGroups = [
  { heading: 'Cluster', flags: [...newClusterFlags, ...detachFlags, ...logFlags] },
  { heading: 'Listeners', flags: listenerFlags },
  { heading: 'Store', flags: storeFlags },
  { heading: 'Backups', flags: backupFlags },
  { heading: 'Authentication', flags: identityFlags },
  { heading: 'API', flags: apiFlags },
  { heading: 'Controllers and nodes', flags: componentFlags },
  { heading: 'Audit', flags: auditFlags },
  { heading: 'Tests', flags: testingFlags },
] as const;

export const upFlags: readonly Flag[] = flagGroups.flatMap(({ flags }): readonly Flag[] => flags);

/** Settings of a cluster: each flag's value from the command line, from the data directory, or its default. */
export type Settings = ValuesOf<readonly (typeof flagGroups)[number]['flags'][number][]> & {
  readonly port: number;
  readonly serviceClusterIpRange: string;
};
