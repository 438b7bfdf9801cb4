/** Removes the context of a cluster from a kubeconfig file. A context of the same name that is another cluster's stays. */
import { X509Certificate } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/time/clock.ts';
import { removeContext } from '../../client/kubeconfig/kubeconfig-file.ts';
import { pemBlocks } from '../../protocols/x509/pem.ts';
import { readIfThere } from '../process/files.ts';

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
  const own = new Set(fingerprintsOf((await readIfThere(join(directory, 'pki', 'ca.crt'))) ?? ''));
  return removeContext(file, name, clock, (ca = '') => fingerprintsOf(ca).some((each) => own.has(each)));
}

function fingerprintsOf(pem: string): string[] {
  return [...pemBlocks(pem)].flatMap(({ bytes }) => {
    try {
      return [new X509Certificate(bytes).fingerprint256];
    } catch {
      return []; // Not a certificate, so not one of ours.
    }
  });
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
