/**
 * The cluster's keys and certificates in DIR/pki: an authority made at first start, the serving certificate, the
 * admin's client certificate and the key that signs service-account tokens. What is there and good is only read; making
 * a certificate is loaded when something must be made. rotate.ts replaces what is there, renewal.ts keeps a running
 * program's certificates young.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Identity, Subject } from '../../base/x509/certificate.ts';
import { CliError } from '../output/cli-error.ts';
import { readIfThere, writeWhole } from '../process/files.ts';

export interface Pki {
  /** The certificates of the authorities that are trusted, as PEM: the one that signs, then those it replaced. */
  readonly authority: string;
  /** The authority that signs. */
  readonly signing: Identity;
  /** With what a client needs besides to find its way to an authority it trusts. */
  readonly serving: KeyPair;
  readonly admin: KeyPair;
  /** Signs service-account tokens: ECDSA P-256, as PEM. */
  readonly serviceAccountKey: string;
  /** Public keys, as PEM, whose tokens are still good: what was rotated away. */
  readonly formerServiceAccountKeys: readonly string[];
  /** When a certificate should be made anew: milliseconds since the epoch. */
  readonly renewAt: number;
  /** What this start made, in words. */
  readonly made: readonly string[];
}

/** As PEM. */
interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface PkiOptions {
  readonly directory: string;
  /** What the serving certificate must name: DNS names and addresses. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

const DAY = 24 * 3_600_000;
export const AUTHORITY_LIFE = 3650 * DAY;
const LEAF_LIFE = 365 * DAY;
/** A certificate with less time left is made anew. */
const RENEW_BEFORE = 60 * DAY;
/** Clocks of other machines may be behind. */
export const BACKDATED = DAY / 24;

const AUTHORITY: Subject = { commonName: 'quarterdeck-ca' };
const ADMIN: Subject = { commonName: 'kubernetes-admin', organization: 'system:masters' };
const SERVER: Subject = { commonName: 'kube-apiserver' };

/** Reads the directory's keys and certificates, and makes what is missing, near its end, or names too little. */
export async function openPki(options: PkiOptions): Promise<Pki> {
  const { directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const made: string[] = [];
  const signing = await openAuthority(options, made);
  const leaf = (file: string, what: string, request: Pick<LeafOptions, 'subject' | 'usage' | 'names'>) =>
    openLeaf({ ...options, ...request, file, what, signing }, made);
  const [serving, admin, serviceAccountKey, former, cross] = await Promise.all([
    leaf('apiserver', 'serving certificate', { subject: SERVER, usage: 'server', names: options.names }),
    leaf('admin', 'admin certificate', { subject: ADMIN, usage: 'client', names: [] }),
    openServiceAccountKey(directory, made),
    readIfThere(join(directory, FORMER_KEYS)),
    readIfThere(join(directory, CROSS)),
  ]);
  const chain = `${serving.certificate}${cross ?? ''}${firstBlock(signing.certificate)}`;
  return {
    authority: signing.certificate,
    signing,
    serving: { ...serving, certificate: chain },
    admin,
    serviceAccountKey,
    formerServiceAccountKeys: former?.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\n?/g) ?? [],
    renewAt: Math.min(expiryOf(serving.certificate), expiryOf(admin.certificate)) - RENEW_BEFORE,
    made,
  };
}

/** Public keys of service-account tokens that were rotated away. */
export const FORMER_KEYS = 'sa.former.pub';
/** The authority, signed by the one before it: with it, clients that know only that one still trust the server. */
export const CROSS = 'ca.cross.crt';

/** Of the first certificate in the text; milliseconds since the epoch. */
export function expiryOf(pem: string): number {
  return Date.parse(new X509Certificate(pem).validTo);
}

export function firstBlock(pem: string): string {
  const end = '-----END CERTIFICATE-----\n';
  return pem.slice(0, pem.indexOf(end) + end.length);
}

async function openAuthority({ directory, clock, random }: PkiOptions, made: string[]): Promise<Identity> {
  const found = await readIdentity(directory, 'ca');
  if (found) return found;
  const { issue, newIssuer, newKey } = await import('../../base/x509/certificate.ts');
  const { privateKey: key, publicKey } = await newKey();
  const now = clock.now();
  const validity = { notBefore: now - BACKDATED, notAfter: now + AUTHORITY_LIFE };
  const request = { subject: AUTHORITY, publicKey, usage: 'authority', ...validity } as const;
  const certificate = issue(request, newIssuer(AUTHORITY, key), random);
  await writeIdentity(directory, 'ca', { certificate, key });
  made.push('authority');
  return { certificate, key };
}

interface LeafOptions extends PkiOptions {
  readonly file: string;
  readonly what: string;
  readonly subject: Subject;
  readonly usage: 'server' | 'client';
  readonly signing: Identity;
}

async function openLeaf(options: LeafOptions, made: string[]): Promise<KeyPair> {
  const { directory, file, signing, clock } = options;
  const found = await readIdentity(directory, file);
  if (found && isGood(found.certificate, options)) {
    return { certificate: found.certificate, key: pemOf(found.key) };
  }
  const { issue, issuerOf, newKey } = await import('../../base/x509/certificate.ts');
  const { privateKey, publicKey } = await newKey();
  const now = clock.now();
  const request = {
    subject: options.subject,
    usage: options.usage,
    names: options.names,
    publicKey,
    notBefore: now - BACKDATED,
    notAfter: now + LEAF_LIFE,
  };
  const certificate = issue(request, issuerOf(signing.certificate, signing.key), options.random);
  await writeIdentity(directory, file, { certificate, key: privateKey });
  made.push(options.what);
  return { certificate, key: pemOf(privateKey) };
}

/** Whether a certificate is of this authority, lasts long enough and names all it must. */
function isGood(pem: string, { signing, names, clock }: LeafOptions): boolean {
  const certificate = new X509Certificate(pem);
  return (
    certificate.verify(createPublicKey(signing.key)) &&
    Date.parse(certificate.validTo) - clock.now() > RENEW_BEFORE &&
    names.every((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined)
  );
}

async function openServiceAccountKey(directory: string, made: string[]): Promise<string> {
  const file = join(directory, 'sa.key');
  const found = await readIfThere(file);
  if (found) return pemOf(parsed(file, () => createPrivateKey(found)));
  const { newKey } = await import('../../base/x509/certificate.ts');
  const pem = pemOf((await newKey()).privateKey);
  await writeWhole(file, pem);
  made.push('service-account key');
  return pem;
}

/** A certificate and its key; undefined unless both are there and belong together. */
export async function readIdentity(directory: string, name: string): Promise<Identity | undefined> {
  const [crtFile, keyFile] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
  const [certificate, keyPem] = await Promise.all([readIfThere(crtFile), readIfThere(keyFile)]);
  if (!certificate || !keyPem) return undefined;
  const key = parsed(keyFile, () => createPrivateKey(keyPem));
  const belongs = parsed(crtFile, () => new X509Certificate(certificate).checkPrivateKey(key));
  return belongs ? { certificate, key } : undefined;
}

/** The key first: a certificate without its key is made again, and so is a certificate of another key. */
export async function writeIdentity(directory: string, name: string, { certificate, key }: Identity): Promise<void> {
  await writeWhole(join(directory, `${name}.key`), pemOf(key));
  await writeWhole(join(directory, `${name}.crt`), certificate);
}

function parsed<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new CliError(`${file} is not a PEM file that can be read; restore it, or remove it to have it made anew`, {
      cause,
    });
  }
}

export function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
