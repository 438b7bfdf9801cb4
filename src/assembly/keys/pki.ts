/**
 * The cluster's keys and certificates in DIR/pki: the certificate authority, the serving certificate, the administrator's
 * client certificate, the key that signs service account tokens, and the front-proxy authority with the client certificate by
 * which aggregated API servers recognize this one. Valid files are only read; the code that creates
 * certificates is loaded when something is missing. rotate.ts replaces them, renewal.ts renews them in a running process.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import type { Tools } from '../../base/tools.ts';
import type { Identity, Subject } from '../../protocols/x509/certificate.ts';
import { FRONT_PROXY_NAME } from '../../server/serving/aggregation/front-proxy.ts';
import { AssemblyError } from '../assembly-error.ts';

export interface Pki {
  /** Certificates of the trusted authorities, as PEM: the current one first, then those it replaced. */
  readonly authority: string;
  /** The current authority. */
  readonly signing: Identity;
  /** Includes the intermediate certificates that link it to every trusted authority. */
  readonly serving: KeyPair;
  readonly admin: KeyPair;
  /** Client certificate for aggregated API servers, and the authorities that sign it: the current one first. */
  readonly frontProxy: KeyPair & { readonly authority: string };
  /** The key that signs service account tokens: ECDSA P-256, as PEM. */
  readonly serviceAccountKey: string;
  /** Public keys, as PEM, that were replaced and whose tokens are still accepted. */
  readonly formerServiceAccountKeys: readonly string[];
  /** When the next certificate is due for renewal: milliseconds since the epoch. */
  readonly renewAt: number;
  /** Names of the keys and certificates that this call created, for people to read. */
  readonly created: readonly string[];
}

/** As PEM. */
interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Reports whether two states of the keys and certificates are the same. */
export function isSamePki(a: Pki, b: Pki): boolean {
  const parts = ({ authority, serving, admin, frontProxy, serviceAccountKey, formerServiceAccountKeys }: Pki) => {
    const certificates = [serving, admin, frontProxy].map(({ certificate }) => certificate);
    return [authority, frontProxy.authority, ...certificates, serviceAccountKey, ...formerServiceAccountKeys].join(
      '\n',
    );
  };
  return parts(a) === parts(b);
}

export interface PkiOptions extends Pick<Tools, 'clock' | 'random'> {
  readonly directory: string;
  /** DNS names and IP addresses that the serving certificate must contain. */
  readonly names: readonly string[];
}

/** The authority for the front-proxy certificate, and that certificate. */
export const FRONT_PROXY_AUTHORITY_FILE = 'front-proxy-ca';
const FRONT_PROXY_FILE = 'front-proxy-client';

const DAY_MS = 24 * 3_600_000;
export const AUTHORITY_LIFETIME_MS = 3650 * DAY_MS;
const LEAF_LIFETIME_MS = 365 * DAY_MS;
/** An authority with less time left is replaced. No certificate of a year that it has signed outlives it. */
export const AUTHORITY_RENEW_BEFORE_MS = 2 * LEAF_LIFETIME_MS;
/** A certificate with less time left is renewed. */
const RENEW_BEFORE_MS = 60 * DAY_MS;
/** Certificates are valid from this long ago, because clocks of other machines may be slow. */
export const BACKDATED_MS = DAY_MS / 24;

const AUTHORITY: Subject = { commonName: 'quarterdeck-ca' };
const ADMIN: Subject = { commonName: 'kubernetes-admin', organization: 'system:masters' };
const SERVER: Subject = { commonName: 'kube-apiserver' };
const FRONT_PROXY: Subject = { commonName: FRONT_PROXY_NAME };

/** An authority: its files, what it is called, and what people read about it. */
const CLUSTER_AUTHORITY = { file: 'ca', subject: AUTHORITY, what: 'authority' } as const;
/** A separate one: no certificate that the cluster's authority signs may speak for other users. */
const FRONT_PROXY_AUTHORITY = {
  file: FRONT_PROXY_AUTHORITY_FILE,
  subject: { commonName: 'front-proxy-ca' },
  what: 'front-proxy authority',
} as const;
type AuthorityFile = typeof CLUSTER_AUTHORITY | typeof FRONT_PROXY_AUTHORITY;

/** Reads the keys and certificates, and creates those that are missing, about to expire, or lack a name. */
export async function openPki(options: PkiOptions): Promise<Pki> {
  const { directory } = options;
  await makeDirectories(directory, 0o700);
  const created: string[] = [];
  const signing = await openAuthority(options, CLUSTER_AUTHORITY, created);
  const frontProxyAuthority = await openAuthority(options, FRONT_PROXY_AUTHORITY, created);
  const leaf = (file: string, what: string, request: Pick<LeafOptions, 'subject' | 'usage' | 'names'>, by = signing) =>
    openLeaf({ ...options, ...request, file, what, signing: by }, created);
  const client = { usage: 'client', names: [] } as const;
  const [serving, admin, frontProxy, serviceAccountKey, former, cross] = await Promise.all([
    leaf('apiserver', 'serving certificate', { subject: SERVER, usage: 'server', names: options.names }),
    leaf('admin', 'admin certificate', { subject: ADMIN, ...client }),
    leaf(FRONT_PROXY_FILE, 'front-proxy certificate', { subject: FRONT_PROXY, ...client }, frontProxyAuthority),
    openServiceAccountKey(directory, created),
    readIfThere(join(directory, FORMER_KEYS)),
    readIfThere(join(directory, CROSS)),
  ]);
  const chain = `${serving.certificate}${cross ?? ''}${firstBlock(signing.certificate)}`;
  return {
    authority: signing.certificate,
    signing,
    serving: { ...serving, certificate: chain },
    admin,
    frontProxy: { ...frontProxy, authority: frontProxyAuthority.certificate },
    serviceAccountKey,
    formerServiceAccountKeys: former?.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\n?/g) ?? [],
    renewAt: Math.min(
      ...[serving, admin, frontProxy].map((each) => expiryOf(each.certificate) - RENEW_BEFORE_MS),
      ...[signing, frontProxyAuthority].flatMap(({ certificate }) => renewalTimes(certificate)),
    ),
    created,
  };
}

/** Public keys of service account tokens that were replaced. */
export const FORMER_KEYS = 'sa.former.pub';
/** The authority that was replaced last; its certificate and key are kept for recovery. */
export const PREVIOUS_AUTHORITY = 'ca.previous';
/** The authority, signed by the one it replaced, so that clients that know only the old one trust the server. */
export const CROSS = 'ca.cross.crt';

/** Expiry of the first certificate in the text: milliseconds since the epoch. */
export function expiryOf(pem: string): number {
  return Date.parse(new X509Certificate(pem).validTo);
}

/** When an authority is to be replaced, and when those before it expire. */
function renewalTimes(authorities: string): number[] {
  const [current = 0, ...former] = blocksOf(authorities).map(expiryOf);
  return [current - AUTHORITY_RENEW_BEFORE_MS, ...former];
}

/** Splits a text into its certificates. */
export function blocksOf(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}

export function firstBlock(pem: string): string {
  const end = '-----END CERTIFICATE-----\n';
  return pem.slice(0, pem.indexOf(end) + end.length);
}

/** Makes sure that there are authorities and a key for service account tokens: what all servers of a cluster share. */
export async function ensureClusterKeys(options: Omit<PkiOptions, 'names'>): Promise<void> {
  await makeDirectories(options.directory, 0o700);
  await openAuthority(options, CLUSTER_AUTHORITY, []);
  await openAuthority(options, FRONT_PROXY_AUTHORITY, []);
  await openServiceAccountKey(options.directory, []);
}

async function openAuthority(
  options: Omit<PkiOptions, 'names'>,
  { file, subject, what }: AuthorityFile,
  created: string[],
): Promise<Identity> {
  const { directory, clock, random } = options;
  const found = file === CLUSTER_AUTHORITY.file ? await readAuthority(directory) : await readIdentity(directory, file);
  if (found) return found;
  const { issue, newIssuer, newKey } = await import('../../protocols/x509/certificate.ts');
  const { privateKey: key, publicKey } = await newKey();
  const now = clock.now();
  const validity = { notBefore: now - BACKDATED_MS, notAfter: now + AUTHORITY_LIFETIME_MS };
  const request = { subject, publicKey, usage: 'authority', ...validity } as const;
  const certificate = issue(request, newIssuer(subject, key), random);
  await writeIdentity(directory, file, { certificate, key });
  created.push(what);
  return { certificate, key };
}

/** Between the two writes of a rotation, the certificate still belongs to the key that is being replaced. */
export async function readAuthority(directory: string): Promise<Identity | undefined> {
  return (await readIdentity(directory, 'ca')) ?? (await readIdentity(directory, 'ca', PREVIOUS_AUTHORITY));
}

interface LeafOptions extends PkiOptions {
  readonly file: string;
  readonly what: string;
  readonly subject: Subject;
  readonly usage: 'server' | 'client';
  readonly signing: Identity;
}

async function openLeaf(options: LeafOptions, created: string[]): Promise<KeyPair> {
  const { directory, file, signing, clock } = options;
  const found = await readIdentity(directory, file);
  if (found && isValid(found.certificate, options)) {
    return { certificate: found.certificate, key: pemOf(found.key) };
  }
  const { issue, issuerOf, newKey } = await import('../../protocols/x509/certificate.ts');
  const { privateKey, publicKey } = await newKey();
  const now = clock.now();
  const request = {
    subject: options.subject,
    usage: options.usage,
    names: options.names,
    publicKey,
    notBefore: now - BACKDATED_MS,
    notAfter: now + LEAF_LIFETIME_MS,
  };
  const certificate = issue(request, issuerOf(signing.certificate, signing.key), options.random);
  await writeIdentity(directory, file, { certificate, key: privateKey });
  created.push(options.what);
  return { certificate, key: pemOf(privateKey) };
}

/** Reports whether a certificate was signed by this authority, is not about to expire, and has all names. */
function isValid(pem: string, { signing, names, clock }: LeafOptions): boolean {
  const certificate = new X509Certificate(pem);
  return (
    certificate.verify(createPublicKey(signing.key)) &&
    Date.parse(certificate.validTo) - clock.now() > RENEW_BEFORE_MS &&
    names.every((name) => (isAddress(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined)
  );
}

/** A DNS name has no colon. Node's isIP() would compile a large expression for IPv6 addresses, 8 ms of a start. */
const isAddress = (name: string) => name.includes(':') || isIPv4(name);

async function openServiceAccountKey(directory: string, created: string[]): Promise<string> {
  const file = join(directory, 'sa.key');
  const found = await readIfThere(file);
  if (found) return pemOf(parsed(file, () => createPrivateKey(found)));
  const { newKey } = await import('../../protocols/x509/certificate.ts');
  const pem = pemOf((await newKey()).privateKey);
  await writeWhole(file, pem);
  created.push('service account key');
  return pem;
}

/** Reads a certificate and its key; undefined unless both exist and belong together. */
export async function readIdentity(directory: string, name: string, keyName = name): Promise<Identity | undefined> {
  const [crtFile, keyFile] = [join(directory, `${name}.crt`), join(directory, `${keyName}.key`)];
  const [certificate, keyPem] = await Promise.all([readIfThere(crtFile), readIfThere(keyFile)]);
  if (!certificate || !keyPem) return undefined;
  const key = parsed(keyFile, () => createPrivateKey(keyPem));
  const isPair = parsed(crtFile, () => new X509Certificate(certificate).checkPrivateKey(key));
  return isPair ? { certificate, key } : undefined;
}

/** Writes the key first: a certificate whose key is missing or different is created again. */
export async function writeIdentity(directory: string, name: string, { certificate, key }: Identity): Promise<void> {
  await writeWhole(join(directory, `${name}.key`), pemOf(key));
  await writeWhole(join(directory, `${name}.crt`), certificate);
}

function parsed<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new AssemblyError(`${file} is not a valid PEM file; restore it, or remove it to have it created again`, {
      cause,
    });
  }
}

export function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
