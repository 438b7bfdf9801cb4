/** The flags of commands that work on the data directory of a cluster on this machine. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { flag, type ValuesOf } from '../../base/flag.ts';
import * as value from './values.ts';

export const DEFAULT_NAME = 'quarterdeck';

export const clusterFlags = [
  flag('--name <name>', {
    help: 'name of the cluster, of its data directory and of its kubeconfig context',
    parse: value.clusterName,
    default: DEFAULT_NAME,
  }),
  flag('--data-dir <dir>', {
    help: 'data directory of the cluster',
    parse: value.file,
    defaultText: '~/.quarterdeck/NAME',
  }),
] as const;

export type ClusterFlags = ValuesOf<typeof clusterFlags>;

/** The folder of the data directories that are not given with --data-dir. */
export const clustersHome = () => join(homedir(), '.quarterdeck');

export function directoryOf({ name, dataDir }: ClusterFlags): string {
  return resolve(dataDir ?? join(clustersHome(), name));
}
