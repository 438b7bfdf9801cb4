/** Removes the context of a cluster from a kubeconfig file. A context of the same name that is another cluster's stays. */
import { stat } from 'node:fs/promises';
import type { Clock } from '../../base/time/clock.ts';
import { removeContext } from '../../client/kubeconfig/kubeconfig-file.ts';
import { authorityCheck } from './shares-authority.ts';

interface EntryOptions {
  readonly directory: string;
  /** The name of the context. */
  readonly name: string;
  readonly file: string;
  /** The URLs of other clusters of this machine, of which the directory may be a copy. */
  readonly others: ReadonlySet<string>;
  readonly clock: Clock;
}

/**
 * Resolves with undefined when the file has no such context. One that trusts an authority of the directory is the cluster's, unless
 * it leads to the original of a copied directory.
 */
export async function removeEntry({ directory, name, file, others, clock }: EntryOptions) {
  if (!(await isFile(file))) return undefined;
  const trusts = await authorityCheck(directory);
  return removeContext(file, name, clock, (ca, server = '') => trusts(ca) && !others.has(server));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
