/** The flags of `qd list`, `qd down` and `qd reset`. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { clusterFlags } from '../flags/cluster.ts';
import * as value from '../flags/values.ts';

export const listFlags = [flag('--json', { help: 'print a JSON array' })] as const;

export type ListFlags = ValuesOf<typeof listFlags>;

const timeout = flag('--timeout <time>', {
  help: 'how long to wait for the end of the process',
  parse: value.duration,
  default: 60_000,
  defaultText: '1m',
});

export const downFlags = [
  ...clusterFlags,
  flag('--keep-pods', { help: 'leave pods running; the next start takes them over' }),
  timeout,
] as const;

export type DownFlags = ValuesOf<typeof downFlags>;

export const resetFlags = [
  ...clusterFlags,
  timeout,
  flag('--delete-encryption-key', {
    help: 'remove the key of a cluster whose objects stay in etcd; without a copy of it they are lost',
  }),
  flag('--yes', { help: 'do not ask; required where standard input is not a terminal' }),
] as const;

export type ResetFlags = ValuesOf<typeof resetFlags>;
