/** The flags of `qd snapshot restore`. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { clusterFlags } from '../flags/cluster.ts';

export const restoreFlags = [
  ...clusterFlags,
  flag('--force', { help: 'replace the objects that the cluster has' }),
] as const;

export type RestoreFlags = ValuesOf<typeof restoreFlags>;
