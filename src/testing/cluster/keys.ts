/**
 * The keys and the authority of test clusters, always the same. They are Ed25519 keys, because their signatures are the same
 * every time: tokens and certificates are part of the history of a cluster. They protect nothing.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Random, SeededRandom } from '../../base/random.ts';
import { type Identity, issue, newIssuer, type Subject } from '../../base/x509/certificate.ts';

export const TOKEN_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface ClusterKeys {
  /** Signs serving and client certificates. */
  readonly authority: Identity;
  /** Signs tokens of service accounts. */
  readonly tokens: KeyObject;
}

/** An Ed25519 key in PKCS #8, but for its last 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const SECRET_BYTES = 32;
const AUTHORITY: Subject = { commonName: 'quarterdeck-test-ca' };
/** Clients check certificates by the time of their machine, which may be far from that of the cluster. */
const ALWAYS = { notBefore: Date.UTC(2000), notAfter: Date.UTC(2099) };

const KEY_SEED = 1;
let keys: ClusterKeys | undefined;

/** Made once in a process, which takes some milliseconds. */
export function clusterKeys(): ClusterKeys {
  keys ??= createKeys(new SeededRandom(KEY_SEED));
  return keys;
}

function createKeys(random: Random): ClusterKeys {
  const key = newKey(random);
  const request = { subject: AUTHORITY, publicKey: createPublicKey(key), usage: 'authority', ...ALWAYS } as const;
  const certificate = issue(request, newIssuer(AUTHORITY, key), random);
  return { authority: { certificate, key }, tokens: newKey(random) };
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
export function issueLeaf({ authority }: ClusterKeys, random: Random, options: LeafOptions) {
  const key = newKey(random);
  const request = { ...options, publicKey: createPublicKey(key), ...ALWAYS };
  const issuer = newIssuer(AUTHORITY, authority.key);
  return { cert: issue(request, issuer, random), key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
}
