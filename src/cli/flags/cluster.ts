/** The flags by which commands name a cluster. `clusters/choice.ts` says which one they mean. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { FlagError, flag, type ValuesOf } from '../../base/flag.ts';
import { CliError } from '../output/cli-error.ts';
import * as value from './values.ts';

export const DEFAULT_NAME = 'quarterdeck';

/** The environment variable that stands for --name. */
const CLUSTER_VARIABLE = 'QD_CLUSTER';

/** The flags of `qd up`, which may be the first to name a cluster. */
export const newClusterFlags = [
  flag('--name <name>', {
    help: 'name of the cluster, of its data directory and of its kubeconfig context',
    parse: value.clusterName,
    default: DEFAULT_NAME,
    defaultText: `$${CLUSTER_VARIABLE}, or ${DEFAULT_NAME}`,
  }),
  flag('--data-dir <dir>', {
    help: 'data directory of the cluster',
    parse: value.file,
    defaultText: '~/.quarterdeck/NAME',
  }),
] as const;

/** For commands that work on the data directory of a cluster on this machine. */
export const clusterFlags = flagsWithDefault(DEFAULT_NAME);

/** For commands that talk to an API server. */
export const connectionFlags = flagsWithDefault('the current context');

function flagsWithDefault(otherwise: string) {
  return [
    flag('--name <name>', {
      help: 'name of a cluster on this machine',
      parse: value.clusterName,
      defaultText: `$${CLUSTER_VARIABLE}, or ${otherwise}`,
    }),
    flag('--data-dir <dir>', { help: 'data directory of a cluster on this machine', parse: value.file }),
    flag('--context <name>', { help: 'context of the kubeconfig that leads to the cluster' }),
    flag('--kubeconfig <file>', {
      help: 'kubeconfig file that leads to the cluster',
      defaultText: '$KUBECONFIG, or ~/.kube/config',
    }),
  ] as const;
}

export type ClusterFlags = ValuesOf<typeof clusterFlags>;

/** The folder of the data directories that are not given with --data-dir. */
export const clustersHome = () => join(homedir(), '.quarterdeck');

/** The data directory that a name or --data-dir stands for. */
export function directoryNamed({ name, dataDir }: { readonly name: string; readonly dataDir?: string | undefined }) {
  return resolve(dataDir ?? join(clustersHome(), name));
}

/** The name in the environment; undefined when there is none. */
export function nameFromEnvironment(env: NodeJS.ProcessEnv): string | undefined {
  const text = env[CLUSTER_VARIABLE];
  if (!text) return undefined;
  try {
    return value.clusterName(text);
  } catch (cause) {
    if (!(cause instanceof FlagError)) throw cause;
    throw new CliError(`the environment variable ${CLUSTER_VARIABLE} is invalid: ${cause.message}`, { cause });
  }
}
