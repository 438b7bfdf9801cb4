import { existsSync } from 'node:fs';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { CliError } from '../output/cli-error.ts';

/** Reads a kubeconfig that `flag` names, of a webhook or of another server. */
export async function namedKubeconfig(flag: string, file: string): Promise<Connection> {
  const { connectionOf, loadKubeconfig } = await import('../../client/kubeconfig/kubeconfig.ts');
  if (!existsSync(file)) throw new CliError(`${flag} ${file} cannot be used: it does not exist`);
  try {
    return await connectionOf(await loadKubeconfig([file]));
  } catch (cause) {
    throw new CliError(`${flag} ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
