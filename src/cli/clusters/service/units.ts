/** Where units are, and which of them are ours. */
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readIfThere } from '../../../base/files/own/files.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { directoryOf } from '../choice.ts';
import { aboutOf } from './unit-text.ts';

/** Content of the section about a unit. */
export interface About {
  readonly kind: 'cluster' | 'agent';
  /** That of the cluster, or of the node. */
  readonly name: string;
  /** The data directory. */
  readonly directory: string;
}

export interface Unit extends About {
  /** `qd-up-dev.service` */
  readonly unit: string;
  readonly file: string;
}

export const isOfSystem = () => process.getuid?.() === 0;

/** The folder of the units of the machine's administrator, or of the user. */
function unitFolder(): string {
  return isOfSystem() ? '/etc/systemd/system' : join(homedir(), '.config', 'systemd', 'user');
}

export function unitOf(about: About, folder = unitFolder()): Unit {
  const unit = `qd-${about.kind === 'agent' ? 'agent' : 'up'}-${about.name}.service`;
  return { ...about, unit, file: join(folder, unit) };
}

/** Resolves with the units that `qd service install` has made, ordered by name. */
export async function installedUnits(folder = unitFolder()): Promise<readonly Unit[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const own = names.filter((name) => /^qd-(up|agent)-.+\.service$/.test(name)).sort();
  const found = await Promise.all(
    own.map(async (name): Promise<Unit[]> => {
      const about = aboutOf((await readIfThere(join(folder, name))) ?? '') as About | undefined;
      return about === undefined ? [] : [{ ...about, unit: name, file: join(folder, name) }];
    }),
  );
  return found.flat();
}

/** Rejects with the units that there are. */
export async function chosenUnit(flags: ClusterFlags): Promise<Unit> {
  const directory = await directoryOf(flags);
  const units = await installedUnits();
  const found = units.find((each) => each.directory === directory);
  if (found) return found;
  const known = units.map(({ unit }) => unit).join(', ') || 'none';
  throw new CliError(`no service of qd runs ${directory}; services on this machine: ${known}`);
}
