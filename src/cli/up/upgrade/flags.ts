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
  flag('--ready-timeout <time>', {
    help: 'how long the new release may take until it is ready, with its nodes; then the former one is started again',
    parse: value.duration,
    default: 120_000,
    defaultText: '2m',
  }),
  flag('--all', {
    help: 'upgrade all machines of the cluster, servers and agents, one after the other; FILE must be a package file',
  }),
  flag('--parallel <count>', {
    help: 'how many agents are upgraded at the same time, with --all',
    parse: value.positiveCount,
    default: 1,
  }),
  flag('--machine-timeout <time>', {
    help: 'how long the upgrade of one machine may take, with --all',
    parse: value.duration,
    default: 600_000,
    defaultText: '10m',
  }),
  flag('--preview', {
    help: "start the release on a copy of the cluster's store, report what would change, and change nothing",
  }),
  flag('--preview-time <time>', {
    help: 'with --preview, how long controllers run on the copy',
    parse: value.duration,
    default: 10_000,
    defaultText: '10s',
  }),
  flag('-o, --output <format>', { help: 'with --preview, how to print', choices: ['text', 'json'], default: 'text' }),
] as const;

export type UpgradeFlags = ValuesOf<typeof upgradeFlags>;
