/** Events about backups, on the namespace of the system. */
import type { FailedBackup, TakenBackup } from '../../../backup/keeping/report.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';

const NAME = 'kube-system';
const SUBJECT = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAME, namespace: NAME } };

export function recordOutcome(recorder: EventRecorder, outcome: TakenBackup | FailedBackup): void {
  if (!('bytes' in outcome)) {
    recorder.event(SUBJECT, 'Warning', 'BackupFailed', `The ${outcome.kind} backup failed: ${outcome.message}`);
    return;
  }
  const { kind, name, target, bytes, objects, damaged } = outcome;
  const content = `${objects} objects, ${bytes} bytes`;
  recorder.event(SUBJECT, 'Normal', 'BackupTaken', `Took the ${kind} backup ${name} (${content}) to ${target}`);
  if (damaged === 0) return;
  recorder.event(SUBJECT, 'Warning', 'BackupIncomplete', `${damaged} objects cannot be read, and are not in ${name}`);
}
