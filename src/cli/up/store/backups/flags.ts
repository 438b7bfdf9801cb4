import { FlagError, flag, type ValuesOf } from '../../../../base/flag.ts';
import * as value from '../../../flags/values.ts';

const MAX_KEPT = 10_000;

export const backupFlags = [
  flag('--backups [bool]', {
    help: 'take a backup each hour, the first of each day as a daily one; not for stores in memory',
    parse: value.boolean,
    default: true,
    remembered: true,
  }),
  flag('--backup-to <location>', {
    help: 'where backups go: a directory, or s3://BUCKET/PREFIX, which needs encryption',
    parse: value.backupTarget,
    defaultText: 'DIR/backups',
    remembered: true,
  }),
  flag('--backup-keep <counts>', {
    help: 'numbers of hourly and of daily backups to keep',
    parse: keptCounts,
    default: { hourly: 24, daily: 7 },
    defaultText: '24,7',
    remembered: true,
  }),
  flag('--backup-passphrase-file <file>', {
    help: 'file with the passphrase that backups are encrypted with',
    parse: value.file,
    remembered: true,
  }),
  flag('--backup-recipient <recipients>', {
    help: 'recipients of age (age1…), separated by commas, for whom backups are encrypted; their identities are needed to restore',
    parse: value.list,
    remembered: true,
  }),
] as const;

export type BackupFlags = ValuesOf<typeof backupFlags>;

function keptCounts(text: string): { readonly hourly: number; readonly daily: number } {
  const [, hourly, daily] = /^(\d{1,5}),(\d{1,5})$/.exec(text) ?? [];
  const counts = { hourly: Number(hourly), daily: Number(daily) };
  if (hourly === undefined || Math.max(counts.hourly, counts.daily) > MAX_KEPT) {
    throw new FlagError(`It must be two numbers, at most ${MAX_KEPT}, such as 24,7.`);
  }
  return counts;
}
