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
  readonly clock: Clock;
}

/** Resolves with undefined when the file has no such context. One that trusts an authority of the directory is the cluster's. */
export async function removeEntry({ directory, name, file, clock }: EntryOptions) {
  if (!(await isFile(file))) return undefined;
  return removeContext(file, name, clock, await authorityCheck(directory));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
