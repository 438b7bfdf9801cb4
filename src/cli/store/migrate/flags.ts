/** The flags of `qd store migrate`: those of `qd up` that say where objects are. */
import { type Flag, flag, longName, type ValuesOf } from '../../../base/flag.ts';
import { storeDriverFlags, storeDrivers } from '../../../store/drivers.ts';
import { clusterFlags } from '../../flags/cluster.ts';
import { upFlags } from '../../up/flags.ts';
import type { GivenFlags } from '../../up/settings/settle.ts';

const targetFlags = [
  flag('--to <store>', {
    help: 'store to move the objects to',
    choices: storeDrivers.filter(({ beginCopy }) => beginCopy).map(({ name }) => name),
  }),
] as const;

/** Flags of the etcd that a server runs. */
const OWN_ETCD = ['--ha', '--bind-address', '--server-name', '--etcd-port', '--etcd-peer-port'];

export const migrateFlags: readonly Flag[] = [
  ...targetFlags,
  ...upFlags.filter((each) => OWN_ETCD.includes(longName(each))),
  ...storeDriverFlags,
  ...clusterFlags,
];

export type MigrateFlags = ValuesOf<typeof targetFlags> & ValuesOf<typeof clusterFlags> & GivenFlags;
