/** Metrics of the backups that a server takes. */
import type { BackupReport } from '../../../backup/keeping/report.ts';
import { head } from '../../../base/metrics/text.ts';

const PREFIX = 'quarterdeck_backup';
const MS = 1_000;

export class BackupMetrics {
  readonly #report: () => BackupReport;

  constructor(report: () => BackupReport) {
    this.#report = report;
  }

  *lines(): Generator<string> {
    const { newest, last, taken, failed, failures } = this.#report();
    yield head(`${PREFIX}s_total`, 'counter', 'Backups that this server has taken or tried to take, by outcome.');
    yield `${PREFIX}s_total{outcome="success"} ${taken}`;
    yield `${PREFIX}s_total{outcome="failure"} ${failed}`;
    yield* gauge('consecutive_failures', 'Backups that have failed since the last one that succeeded.', failures);
    yield* gauge('newest_timestamp_seconds', 'When the newest backup was taken.', newest && newest.time / MS);
    yield* gauge('newest_size_bytes', 'Size of the newest backup.', newest?.bytes);
    yield* gauge('last_duration_seconds', 'How long the last backup of this server took.', last?.seconds);
    yield* gauge('last_damaged_objects', 'Objects that the last backup of this server lacks.', last?.damaged);
  }
}

function* gauge(name: string, help: string, value: number | undefined): Generator<string> {
  if (value === undefined) return;
  yield head(`${PREFIX}_${name}`, 'gauge', help);
  yield `${PREFIX}_${name} ${value}`;
}
