/** `qd service status`. */
import { clustersHome } from '../../flags/cluster.ts';
import { table } from '../../output/table.ts';
import { choiceOf } from '../choice.ts';
import { findCluster } from '../find.ts';
import type { StatusFlags } from './flags.ts';
import { stateOf } from './systemctl.ts';
import { chosenUnit, installedUnits, type Unit } from './units.ts';

const HEADER = ['UNIT', 'ENABLED', 'STATE', 'READY', 'DIRECTORY'];

export async function status({ json, ...flags }: StatusFlags): Promise<void> {
  const isNamed = choiceOf(flags, process.env).by !== 'default';
  const units = isNamed ? [await chosenUnit(flags)] : await installedUnits();
  const seen = await Promise.all(units.map(see));
  if (seen.some(({ isReady }) => !isReady)) process.exitCode = 1;
  if (json) return print(JSON.stringify(seen, undefined, 2));
  if (seen.length === 0) return print('There are no services of qd on this machine. qd service install makes one.');
  const rows = seen.map(({ unit, enabled, state, pid, isReady, directory }) => [
    ...[unit, enabled, pid === undefined ? state : `${state} (process ${pid})`],
    ...[isReady ? 'yes' : 'no', directory],
  ]);
  for (const line of table([HEADER, ...rows])) print(line);
}

async function see({ unit, kind, name, directory }: Unit) {
  const [{ active: state, enabled, pid }, found] = await Promise.all([
    stateOf(unit),
    findCluster(directory, clustersHome()),
  ]);
  const isReady = state === 'active' && found?.state === 'running' && found.pid === pid;
  return { unit, kind, name, enabled, state, pid, isReady, directory };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
