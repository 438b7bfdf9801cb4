import { basename, join } from 'node:path';
import { clustersHome, DEFAULT_NAME } from '../flags/cluster.ts';

/** The command line for a command about a cluster, as the user can type it: `qd` is on the PATH, or this is a clone. */
export function commandFor(command: string, name: string, directory: string, program = process.argv[1] ?? ''): string {
  const call = basename(program) === 'qd' ? 'qd' : 'npx qd';
  if (directory !== join(clustersHome(), name)) return `${call} ${command} --data-dir ${directory}`;
  return name === DEFAULT_NAME ? `${call} ${command}` : `${call} ${command} --name ${name}`;
}
