/** Tells whether a client trusts the cluster of a data directory. */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere } from '../../base/files/own/files.ts';
import { pemBlocks } from '../../protocols/x509/pem.ts';

/** Reports whether the authorities that a client trusts (PEM) include one of the directory. */
export async function sharesAuthority(directory: string, ca = ''): Promise<boolean> {
  return (await authorityCheck(directory))(ca);
}

/** The same for several clients: the directory is read once. */
export async function authorityCheck(directory: string): Promise<(ca?: string) => boolean> {
  const own = new Set(fingerprintsOf((await readIfThere(join(directory, 'pki', 'ca.crt'))) ?? ''));
  return (ca = '') => fingerprintsOf(ca).some((each) => own.has(each));
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
