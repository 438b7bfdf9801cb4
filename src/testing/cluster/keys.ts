/**
 * The keys and the authority of test clusters, always the same. They are Ed25519 keys, because their signatures are the same
 * every time: tokens and certificates are part of the history of a cluster. They protect nothing.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Random, SeededRandom } from '../../base/random.ts';
import { type Identity, issue, newIssuer, type Subject } from '../../protocols/x509/certificate.ts';

/** Keys are made when they are first used: loading what makes them takes a tenth of the start of a process. */
export interface ClusterKeys {
  /** The certificate of the authority, as PEM. */
  readonly certificate: string;
  /** Signs serving and client certificates. */
  authorityKey(): KeyObject;
  /** Signs tokens of service accounts. */
  tokenKey(): KeyObject;
}

/** An Ed25519 key in PKCS #8, but for its last 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const SECRET_BYTES = 32;
const AUTHORITY: Subject = { commonName: 'quarterdeck-test-ca' };
/** Clients check certificates by the time of their machine, which may be far from that of the cluster. */
const ALWAYS = { notBefore: Date.UTC(2000), notAfter: Date.UTC(2099) };

const AUTHORITY_SEED = 1;
const TOKEN_SEED = 2;
let keys: ClusterKeys | undefined;

/** Made once in a process. `certificate`: that of the authority, where the build has saved it. */
export function clusterKeys(certificate?: string): ClusterKeys {
  keys ??= {
    certificate: certificate ?? newAuthority().certificate,
    authorityKey: () => newAuthority().key,
    tokenKey: once(() => newKey(new SeededRandom(TOKEN_SEED))),
  };
  return keys;
}

const newAuthority = once((): Identity => {
  const random = new SeededRandom(AUTHORITY_SEED);
  const key = newKey(random);
  const request = { subject: AUTHORITY, publicKey: createPublicKey(key), usage: 'authority', ...ALWAYS } as const;
  return { certificate: issue(request, newIssuer(AUTHORITY, key), random), key };
});

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function newKey(random: Random): KeyObject {
  const key = Buffer.concat([PKCS8_HEAD, random.bytes(SECRET_BYTES)]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

export interface LeafOptions {
  readonly subject: Subject;
  readonly usage: 'server' | 'client';
  readonly names?: readonly string[];
}

/** A certificate with its key, both as PEM, that is valid at any time. */
export function issueLeaf({ authorityKey }: ClusterKeys, random: Random, options: LeafOptions) {
  const key = newKey(random);
  const request = { ...options, publicKey: createPublicKey(key), ...ALWAYS };
  const issuer = newIssuer(AUTHORITY, authorityKey());
  return { cert: issue(request, issuer, random), key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
}
