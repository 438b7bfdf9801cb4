import { basename, join } from 'node:path';
import { clustersHome, DEFAULT_NAME } from '../flags/cluster.ts';

/**
 * The command line for a command about a cluster, as the user can type it. Run by npm, or from dist/, the program is that of a
 * clone, and not on the PATH.
 */
export function commandFor(command: string, name: string, directory: string, start = howStarted()): string {
  const call = basename(start.program) === 'qd' && !start.byNpm ? 'qd' : 'npx qd';
  if (directory !== join(clustersHome(), name)) return `${call} ${command} --data-dir ${directory}`;
  return name === DEFAULT_NAME ? `${call} ${command}` : `${call} ${command} --name ${name}`;
}

function howStarted(): { readonly program: string; readonly byNpm: boolean } {
  return { program: process.argv[1] ?? '', byNpm: process.env.npm_command !== undefined };
}
