/** The report of `qd backup verify`. */
import type { BackupAbout, BackupEnd } from '../../../backup/file/content.ts';
import { table } from '../../output/table.ts';
import type { UnreadableObject } from '../../up/upgrade/preview/messages.ts';

export interface BackupReport {
  readonly name: string;
  readonly about: BackupAbout;
  /** Number of changes in its history. */
  readonly changes: number;
  readonly objects: number;
  readonly kinds: readonly { readonly kind: string; readonly count: number }[];
  /** Objects that could not be read when the backup was taken, and are not in it. */
  readonly damaged: BackupEnd['damaged'];
  /** Objects that the cluster in memory cannot show. */
  readonly unreadable: readonly UnreadableObject[];
  readonly secondsToReady: number | undefined;
  /** Why the cluster in memory did not become ready; undefined: it did. */
  readonly problem: string | undefined;
  readonly isUsable: boolean;
}

const stamp = (time: number) => new Date(time).toISOString();

export function reportLines(report: BackupReport): readonly string[] {
  const { name, about, changes, objects, kinds, damaged, unreadable, problem, secondsToReady } = report;
  const { cluster, release, store, revision, time, oldest } = about;
  const history = oldest ? `every moment since ${stamp(oldest.time)}: ${changes} changes` : 'none';
  const start = problem === undefined ? `ready after ${secondsToReady?.toFixed(2)} s` : problem;
  const facts = [
    ['cluster', cluster],
    ['taken', `${stamp(time)}, at revision ${revision}, by Quarterdeck ${release.version}, from the store "${store}"`],
    ['history', history],
    ['objects', `${objects}`],
    ['start', start],
  ];
  const counts = kinds.map(({ kind, count }) => [kind, `${count}`]);
  return [
    `${name}: ${report.isUsable ? 'usable' : 'not in order'}`,
    ...table(facts).map((line) => `  ${line}`),
    ...(counts.length === 0 ? [] : table([['KIND', 'COUNT'], ...counts])),
    ...damaged.map(
      ({ key, revision: at }) => `not in the backup, because it could not be read: ${key} (revision ${at})`,
    ),
    ...unreadable.map(({ key, reason }) => `cannot be read: ${key}: ${reason}`),
  ];
}
