/** `qd status`. */
import { systemClock } from '../../../base/time/clock.ts';
import { print } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { ageText, bytesText } from '../../store/backup/text.ts';
import { type Facts, factsOf } from './facts.ts';
import { findings } from './findings.ts';
import type { StatusFlags } from './flags.ts';

export async function status(flags: StatusFlags): Promise<void> {
  const facts = await factsOf(flags);
  const now = systemClock.now();
  const warnings = findings(facts, now);
  if (flags.json) print(JSON.stringify({ ...facts, warnings }, undefined, 2));
  else print(...table(rowsOf(facts, now)), ...warnings.map((warning) => `warning: ${warning}`));
  if (warnings.length > 0) process.exitCode = 1;
}

function rowsOf({ cluster, api, store, backups }: Facts, now: number): string[][] {
  const { name, state, pid, url, version, directory } = cluster;
  const process = pid === undefined ? '' : ` (process ${pid})`;
  const rows = [
    ['cluster', `${name}, ${state}${process}${version === undefined ? '' : `, Quarterdeck ${version}`}`],
    ['directory', directory],
  ];
  if (url !== undefined) rows.push(['server', api && api.servers.length > 1 ? api.servers.join(', ') : url]);
  if (api) rows.push(['nodes', `${api.nodes - api.unready.length} of ${api.nodes} ready`]);
  rows.push(['store', store.bytes === undefined ? store.name : `${store.name}, ${bytesText(store.bytes)}`]);
  rows.push(['backup', backupText(backups, now)]);
  return rows;
}

function backupText(backups: Facts['backups'], now: number): string {
  if (!backups) return 'none: the objects do not outlive the process';
  const { newest, target, isScheduled } = backups;
  const schedule = isScheduled ? '' : ' (no schedule)';
  if (!newest) return `none yet, in ${target}${schedule}`;
  return `${newest.name}, ${ageText(now - newest.time)} old, ${bytesText(newest.bytes)}, in ${target}${schedule}`;
}
