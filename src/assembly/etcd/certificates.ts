/**
 * The keys by which members of etcd and servers know each other, in DIR/etcd/pki: an authority of their own, so that no certificate
 * of the cluster's authority opens etcd, and one certificate for each server and its member. All servers have the authority's key, and
 * with it everything that is in etcd: an end of a certificate would stop none of them, only a cluster that nobody restarts.
 */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { TlsOptions } from '../../protocols/grpc/client.ts';
import { type Identity, issue, issuerOf, newIssuer, newKey } from '../../protocols/x509/certificate.ts';
import { BACKDATED_MS, pemOf, readIdentity, writeIdentity } from '../keys/pki.ts';
import type { MemberPaths } from './paths.ts';

const AUTHORITY = { commonName: 'quarterdeck-etcd-ca' };
/** The date of certificates that have no end (RFC 5280, section 4.1.2.5). */
const NO_END = Date.UTC(9999, 11, 31, 23, 59, 59);

export interface MemberKeysOptions {
  readonly paths: MemberPaths;
  /** The address of the machine. */
  readonly host: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Reads the keys, and creates those that are missing, or are not for this address. */
export async function openMemberKeys(options: MemberKeysOptions): Promise<TlsOptions> {
  const { paths, host, clock, random } = options;
  await makeDirectories(paths.pki, 0o700);
  const authority = (await readIdentity(paths.pki, 'ca')) ?? (await newAuthority(options));
  const known = await readIdentity(paths.pki, 'member');
  if (known && isFor(known.certificate, authority, host)) return tlsOf(authority, known);
  const { privateKey, publicKey } = await newKey();
  const request = {
    subject: { commonName: 'quarterdeck-etcd-member' },
    publicKey,
    usage: 'peer',
    names: [host],
  } as const;
  const validity = { notBefore: clock.now() - BACKDATED_MS, notAfter: NO_END };
  const certificate = issue({ ...request, ...validity }, issuerOf(authority.certificate, authority.key), random);
  const identity = { certificate, key: privateKey };
  await writeIdentity(paths.pki, 'member', identity);
  return tlsOf(authority, identity);
}

async function newAuthority({ paths, clock, random }: MemberKeysOptions): Promise<Identity> {
  const { privateKey: key, publicKey } = await newKey();
  const validity = { notBefore: clock.now() - BACKDATED_MS, notAfter: NO_END };
  const request = { subject: AUTHORITY, publicKey, usage: 'authority', ...validity } as const;
  const identity = { certificate: issue(request, newIssuer(AUTHORITY, key), random), key };
  await writeIdentity(paths.pki, 'ca', identity);
  return identity;
}

function isFor(pem: string, authority: Identity, host: string): boolean {
  const certificate = new X509Certificate(pem);
  const named = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
  return named !== undefined && certificate.verify(createPublicKey(authority.key));
}

function tlsOf(authority: Identity, { certificate, key }: Identity): TlsOptions {
  return { ca: authority.certificate, cert: certificate, key: pemOf(key) };
}

/** Resolves with the keys that are there, for commands. Rejects when there are none. */
export async function readMemberKeys(paths: MemberPaths): Promise<TlsOptions> {
  const [authority, own] = await Promise.all([readIdentity(paths.pki, 'ca'), readIdentity(paths.pki, 'member')]);
  if (!authority || !own) throw new Error(`${paths.pki} has no keys of an etcd member`);
  return tlsOf(authority, own);
}

/** The authority of etcd with its key, as another server gets it. */
export interface AuthorityFiles {
  readonly certificate: string;
  readonly key: string;
}

export async function readEtcdAuthority({ pki }: MemberPaths): Promise<AuthorityFiles> {
  const found = await readIdentity(pki, 'ca');
  if (!found) throw new Error(`${pki} has no authority`);
  return { certificate: found.certificate, key: pemOf(found.key) };
}

export async function writeEtcdAuthority(paths: MemberPaths, { certificate, key }: AuthorityFiles): Promise<void> {
  await makeDirectories(paths.pki, 0o700);
  await writeWhole(`${paths.pki}/ca.key`, key);
  await writeWhole(paths.authority, certificate);
}
