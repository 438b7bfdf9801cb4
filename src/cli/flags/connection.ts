/** Finds the kubeconfig files that lead to a cluster, as kubectl does. */
import { existsSync } from 'node:fs';
import { type Connection, connectionOf, loadKubeconfig } from '../../client/kubeconfig/kubeconfig.ts';
import { CliError } from '../output/cli-error.ts';
import { defaultKubeconfig, filesOfVariable } from './kubeconfig-files.ts';

/** Values of the flags of these names. */
export interface ContextChoice {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export async function contextConnection({ kubeconfig, context }: ContextChoice): Promise<Connection> {
  const files = existingFiles(kubeconfig, process.env);
  const config = await loadKubeconfig(files);
  if (config.contexts.size === 0) throw new CliError(`${files.join(', ')} has no contexts: it names no cluster`);
  return connectionOf(config, context);
}

/** Skips missing files, as kubectl does; at least one must exist. */
export function existingFiles(
  given: string | undefined,
  env: NodeJS.ProcessEnv,
  exists: (file: string) => boolean = existsSync,
): readonly string[] {
  const named = filesOfVariable(env);
  const files = given !== undefined ? [given] : named.length > 0 ? named : [defaultKubeconfig()];
  const found = files.filter((file) => exists(file));
  if (found.length > 0) return found;
  if (given !== undefined) throw new CliError(`--kubeconfig ${given} does not exist`);
  const help = 'qd up creates it, and --kubeconfig FILE names another';
  if (named.length > 1) throw new CliError(`none of the files that KUBECONFIG names exists: ${named.join(', ')}`);
  const why = named.length === 1 ? `${named[0]}, which KUBECONFIG names,` : defaultKubeconfig();
  throw new CliError(`${why} does not exist; ${help}`);
}
