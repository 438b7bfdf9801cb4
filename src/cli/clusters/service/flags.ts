/** The flags of `qd service`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { clusterFlags } from '../../flags/cluster.ts';

export const installFlags = [flag('--print', { help: 'print the unit, and change nothing' })] as const;

export type InstallFlags = ValuesOf<typeof installFlags>;

export const statusFlags = [...clusterFlags, flag('--json', { help: 'print a JSON array' })] as const;

export type StatusFlags = ValuesOf<typeof statusFlags>;
