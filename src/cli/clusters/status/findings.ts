/** What is wrong with a cluster. */
import { ageText } from '../../store/backup/text.ts';
import type { Facts } from './facts.ts';

const HOUR_MS = 3_600_000;
/** Backups are taken each hour; one of them may fail. */
const MAX_BACKUP_AGE_MS = 2 * HOUR_MS + HOUR_MS / 4;
const MAX_NAMED = 5;

export function findings({ cluster, api, problem, backups }: Facts, now: number): readonly string[] {
  const found: string[] = [];
  if (cluster.state === 'unreadable') found.push(`its data directory cannot be read: ${cluster.problem}`);
  else if (cluster.state !== 'running') found.push(`the cluster is ${cluster.state}`);
  if (problem !== undefined) found.push(`the server does not answer: ${problem}`);
  if (api && api.unready.length > 0) {
    const more = api.unready.length > MAX_NAMED ? ` and ${api.unready.length - MAX_NAMED} more` : '';
    found.push(`nodes are not ready: ${api.unready.slice(0, MAX_NAMED).join(', ')}${more}`);
  }
  return backups ? [...found, ...backupFindings(backups, cluster.state === 'running', now)] : found;
}

function backupFindings(backups: NonNullable<Facts['backups']>, runs: boolean, now: number): readonly string[] {
  const { isScheduled, newest, failures, lastFailure, problem, target } = backups;
  const found: string[] = [];
  if (problem !== undefined) found.push(`the backups in ${target} cannot be listed: ${problem}`);
  if (failures > 0) found.push(`the last ${failures === 1 ? 'backup' : `${failures} backups`} failed: ${lastFailure}`);
  // None is taken while the cluster is stopped.
  if (runs && isScheduled && newest && now - newest.time > MAX_BACKUP_AGE_MS) {
    found.push(`the last backup is ${ageText(now - newest.time)} old, and one is due each hour`);
  }
  return found;
}
