/** The flags of `qd restore`. */
import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { newClusterFlags } from '../../flags/cluster.ts';
import { unsealFlags } from '../backup/flags.ts';

export const restoreFlags = [
  flag('--at <time>', {
    help: 'the moment to restore, such as 2026-11-19T21:30:00Z',
    parse: momentOf,
    defaultText: 'that of the newest backup',
  }),
  flag('--cluster <name>', { help: 'the cluster to restore, where a target has backups of several' }),
  ...newClusterFlags,
  ...unsealFlags,
  flag('--start', { help: 'start the cluster, as qd up does' }),
] as const;

export type RestoreFlags = ValuesOf<typeof restoreFlags>;

const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** A moment without a zone is one of this machine's. */
function momentOf(text: string): number {
  const time = MOMENT.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(time)) throw new FlagError('It must be a time such as 2026-11-19T21:30:00Z.');
  return time;
}
