import { expect, test } from 'vitest';
import { backupName, parseBackupName } from './names.ts';

test('the name of a backup says of which cluster, from when and of which kind it is', () => {
  const time = Date.parse('2026-11-19T23:00:00Z');
  for (const cluster of ['dev', 'dev-2-hourly', 'a.b']) {
    for (const kind of ['hourly', 'daily', 'manual'] as const) {
      for (const isSealed of [false, true]) {
        const name = backupName({ cluster, time, kind, isSealed });
        expect(parseBackupName(name), name).toEqual({ cluster, time, kind, isSealed });
      }
    }
  }
  expect(backupName({ cluster: 'dev', time: time + 999, kind: 'daily', isSealed: true })).toBe(
    'dev-20261119T230000Z-daily.qdbackup.age',
  );
});

test.each(['dev.qdbackup', 'dev-20261319T230000Z-hourly.qdbackup', 'dev-20261119T230000Z-weekly.qdbackup', '.age', ''])(
  '"%s" is no backup',
  (name) => expect(parseBackupName(name)).toBeUndefined(),
);
