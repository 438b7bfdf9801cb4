/** Replaces keys and certificates in DIR/pki before they expire. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import type { Tools } from '../../base/tools.ts';
import { AssemblyError } from '../assembly-error.ts';
import {
  AUTHORITY_LIFETIME_MS,
  BACKDATED_MS,
  CROSS,
  expiryOf,
  FORMER_KEYS,
  FRONT_PROXY_AUTHORITY_FILE,
  firstBlock,
  PREVIOUS_AUTHORITY,
  pemOf,
  readAuthority,
  readIdentity,
  writeIdentity,
} from './pki.ts';
import type { Rotatable } from './rotatable.ts';

export interface RotateOptions extends Pick<Tools, 'clock' | 'random'> {
  /** DIR/pki. */
  readonly directory: string;
}

/** Leaf certificates are removed: the next start, or a running process that is signalled, creates new ones. */
export async function rotate(what: Rotatable, options: RotateOptions): Promise<void> {
  const { directory } = options;
  switch (what) {
    case 'serving':
      return rm(join(directory, 'apiserver.crt'), { force: true });
    case 'admin':
      return rm(join(directory, 'admin.crt'), { force: true });
    case 'service-account-key':
      return rotateServiceAccountKey(directory);
    case 'authority':
      return rotateAuthority(options);
    case 'front-proxy':
      return rotateFrontProxy(options);
  }
}

/** Stops trusting authorities and keys that were replaced. */
export async function forgetFormer(directory: string): Promise<void> {
  const { certificate } = await authorityIn(directory);
  await writeWhole(join(directory, 'ca.crt'), firstBlock(certificate));
  const frontProxy = await readIdentity(directory, FRONT_PROXY_AUTHORITY_FILE);
  if (frontProxy) {
    await writeWhole(join(directory, `${FRONT_PROXY_AUTHORITY_FILE}.crt`), firstBlock(frontProxy.certificate));
  }
  await rm(join(directory, CROSS), { force: true });
  await rm(join(directory, FORMER_KEYS), { force: true });
}

/** Tokens of the old key stay valid, because its public half is kept, and written first. */
async function rotateServiceAccountKey(directory: string): Promise<void> {
  const file = join(directory, 'sa.key');
  const old = await readIfThere(file);
  if (!old) throw new AssemblyError(`${file} is missing; the next start creates it`);
  const former = join(directory, FORMER_KEYS);
  const pub = createPublicKey(createPrivateKey(old)).export({ type: 'spki', format: 'pem' }) as string;
  await writeWhole(former, `${pub}${(await readIfThere(former)) ?? ''}`);
  const { newKey } = await import('../../protocols/x509/certificate.ts');
  await writeWhole(file, pemOf((await newKey()).privateKey));
}

/**
 * Creates an authority that is trusted besides the old one. The old one signs it, so that clients that know only the old
 * one trust what the new one signs. Certificates of the old one are replaced at the next start, or valid until they expire.
 */
async function rotateAuthority({ directory, clock, random }: RotateOptions): Promise<void> {
  const { issue, issuerOf, newIssuer, newKey } = await import('../../protocols/x509/certificate.ts');
  const old = await authorityIn(directory);
  const { privateKey: key, publicKey } = await newKey();
  const now = clock.now();
  const subject = { commonName: `quarterdeck-ca@${Math.floor(now / 1000)}` };
  const request = { subject, publicKey, usage: 'authority', notBefore: now - BACKDATED_MS } as const;
  const own = issue({ ...request, notAfter: now + AUTHORITY_LIFETIME_MS }, newIssuer(subject, key), random);
  const cross = issue({ ...request, notAfter: expiryOf(old.certificate) }, issuerOf(old.certificate, old.key), random);
  await writeIdentity(directory, PREVIOUS_AUTHORITY, { ...old, certificate: firstBlock(old.certificate) });
  await writeWhole(join(directory, CROSS), cross);
  await writeIdentity(directory, 'ca', { certificate: `${own}${old.certificate}`, key });
}

/**
 * Creates an authority for the front-proxy certificate, which aggregated API servers trust besides the old one. The
 * certificate is signed by the new one at the next start, or by a running process that is signalled.
 */
async function rotateFrontProxy({ directory, clock, random }: RotateOptions): Promise<void> {
  const { issue, newIssuer, newKey } = await import('../../protocols/x509/certificate.ts');
  const old = await readIdentity(directory, FRONT_PROXY_AUTHORITY_FILE);
  const { privateKey: key, publicKey } = await newKey();
  const now = clock.now();
  const subject = { commonName: `front-proxy-ca@${Math.floor(now / 1000)}` };
  const validity = { notBefore: now - BACKDATED_MS, notAfter: now + AUTHORITY_LIFETIME_MS };
  const own = issue({ subject, publicKey, usage: 'authority', ...validity }, newIssuer(subject, key), random);
  await writeIdentity(directory, FRONT_PROXY_AUTHORITY_FILE, { certificate: `${own}${old?.certificate ?? ''}`, key });
}

async function authorityIn(directory: string) {
  const found = await readAuthority(directory);
  if (!found) throw new AssemblyError(`${directory} has no certificate authority; has the cluster been started?`);
  return found;
}
