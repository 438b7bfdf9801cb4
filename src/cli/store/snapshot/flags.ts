/** The flags of `qd snapshot restore` and `qd snapshot check`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { clusterFlags } from '../../flags/cluster.ts';

export const restoreFlags = [
  ...clusterFlags,
  flag('--force', { help: 'replace the objects that the cluster has' }),
] as const;

export type RestoreFlags = ValuesOf<typeof restoreFlags>;

export const checkFlags = [
  ...clusterFlags,
  flag('--delete-damaged', { help: 'delete the objects that cannot be read; the cluster must be stopped' }),
] as const;

export type CheckFlags = ValuesOf<typeof checkFlags>;
