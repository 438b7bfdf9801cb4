/** The flags of `qd status`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { clusterFlags } from '../../flags/cluster.ts';

export const statusFlags = [...clusterFlags, flag('--json', { help: 'print JSON' })] as const;

export type StatusFlags = ValuesOf<typeof statusFlags>;
