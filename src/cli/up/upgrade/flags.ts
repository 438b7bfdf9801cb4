/** The flags of `qd upgrade`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { clusterFlags } from '../../flags/cluster.ts';
import * as value from '../../flags/values.ts';

export const upgradeFlags = [
  ...clusterFlags,
  flag('--timeout <time>', {
    help: 'how long to wait for the end of the process',
    parse: value.duration,
    default: 60_000,
    defaultText: '1m',
  }),
] as const;

export type UpgradeFlags = ValuesOf<typeof upgradeFlags>;
