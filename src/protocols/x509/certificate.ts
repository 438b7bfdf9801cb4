/** Issues certificates with the extensions that Go, OpenSSL and browsers require. */
import { createHash, createPublicKey, generateKeyPair, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type { Random } from '../../base/random.ts';
import {
  addressBytes,
  bits,
  boolean,
  DerError,
  type Element,
  elementsOf,
  integer,
  NULL,
  octets,
  oid,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from './der.ts';
import { pemOf } from './pem.ts';

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

export interface Identity {
  readonly certificate: string;
  readonly key: KeyObject;
}

export interface CertificateRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  /** `peer`: both a server and a client, as members of a cluster are to each other. */
  readonly usage: 'authority' | 'server' | 'client' | 'peer';
  /** DNS names and addresses. */
  readonly names?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Issuer {
  /** The authority's name, DER-encoded. */
  readonly name: Buffer;
  readonly keyId: Buffer;
  readonly key: KeyObject;
}

/** The content of a certificate; parts that come from a request are DER-encoded. */
export interface Content {
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly isAuthority: boolean;
  /** Bit numbers of RFC 5280: 0 is digitalSignature, 5 keyCertSign. */
  readonly keyUsages: readonly number[];
  /** Object identifiers. */
  readonly purposes: readonly string[];
  readonly names: readonly Buffer[];
  readonly notBefore: number;
  readonly notAfter: number;
}

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const PURPOSES = {
  authority: [],
  server: [SERVER_AUTH],
  client: [CLIENT_AUTH],
  peer: [SERVER_AUTH, CLIENT_AUTH],
} as const;
const SUBJECT_KEY_ID = '2.5.29.14';

/** Generates an ECDSA P-256 key. */
export async function newKey(): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  return await promisify(generateKeyPair)('ec', { namedCurve: 'prime256v1' });
}

/** An authority without a certificate yet, which signs its own. */
export function newIssuer(subject: Subject, key: KeyObject): Issuer {
  return { name: nameOf(subject), keyId: keyId(spkiOf(createPublicKey(key))), key };
}

/** An authority with a certificate. Throws a DerError when the text is not a certificate. */
export function issuerOf(certificate: string, key: KeyObject): Issuer {
  const [whole] = elementsOf(new X509Certificate(certificate).raw);
  const [tbs] = elementsOf(whole!.content);
  // Version, serial, algorithm, issuer, validity, subject, key, extensions; the version may be left out.
  const parts = elementsOf(tbs!.content);
  const fields = parts[0]!.tag === 0xa0 ? parts.slice(1) : parts;
  const [, , , , subject, publicKey, ...rest] = fields;
  if (!subject || !publicKey) throw new DerError('x509: malformed certificate');
  const own = rest.find(({ tag }) => tag === 0xa3);
  return { name: subject.whole, keyId: (own && keyIdIn(own)) ?? keyId(publicKey.whole), key };
}

/** Issues a certificate, as PEM. */
export function issue(request: CertificateRequest, issuer: Issuer, random: Random): string {
  const { usage } = request;
  const isAuthority = usage === 'authority';
  const content: Content = {
    subject: nameOf(request.subject),
    publicKey: spkiOf(request.publicKey),
    isAuthority,
    keyUsages: isAuthority ? [0, 5, 6] : [0],
    purposes: PURPOSES[usage],
    names: (request.names ?? []).map(alternativeName),
    notBefore: request.notBefore,
    notAfter: request.notAfter,
  };
  return signCertificate(content, issuer, random);
}

/** Issues a certificate whose content comes from a request. */
export function signCertificate(content: Content, issuer: Issuer, random: Random): string {
  const { algorithm, hash } = signatureOf(issuer.key);
  const body = sequence(
    tagged(0, integer(Buffer.of(2))),
    integer(serial(random)),
    algorithm,
    issuer.name,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    content.publicKey,
    tagged(3, sequence(...extensions(content, issuer))),
  );
  return pemOf('CERTIFICATE', sequence(body, algorithm, bits(sign(hash, body, issuer.key))));
}

export function signatureOf(key: KeyObject): { algorithm: Buffer; hash: string | null } {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return { algorithm: sequence(oid('1.2.840.10045.4.3.2')), hash: 'sha256' };
    case 'rsa':
      return { algorithm: sequence(oid('1.2.840.113549.1.1.11'), NULL), hash: 'sha256' };
    case 'ed25519':
      return { algorithm: sequence(oid('1.3.101.112')), hash: null };
    default:
      throw new Error(`an authority cannot sign with a key of type ${key.asymmetricKeyType}`);
  }
}

/** Generates a positive number with 126 random bits. */
function serial(random: Random): Buffer {
  const bytes = random.bytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

export function nameOf({ commonName, organization }: Subject): Buffer {
  const part = (type: string, value: string) => set(sequence(oid(type), utf8(value)));
  return sequence(...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName));
}

function extensions({ isAuthority, keyUsages, purposes, publicKey, names }: Content, issuer: Issuer): Buffer[] {
  const extension = (id: string, critical: boolean, value: Buffer) =>
    sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
  const found = [extension('2.5.29.19', true, sequence(...(isAuthority ? [boolean(true)] : [])))];
  if (keyUsages.length > 0) found.push(extension('2.5.29.15', true, bitList(keyUsages)));
  found.push(extension(SUBJECT_KEY_ID, false, octets(keyId(publicKey))));
  found.push(extension('2.5.29.35', false, sequence(tagged(0, issuer.keyId, false))));
  if (purposes.length > 0) found.push(extension('2.5.29.37', false, sequence(...purposes.map(oid))));
  if (names.length > 0) found.push(extension('2.5.29.17', false, sequence(...names)));
  return found;
}

/** Encodes a named bit list: bytes up to the last bit that is set. */
function bitList(numbers: readonly number[]): Buffer {
  const last = Math.max(...numbers);
  const bytes = Buffer.alloc((last >> 3) + 1);
  for (const number of numbers) bytes[number >> 3]! |= 0x80 >> (number & 7);
  return bits(bytes, 7 - (last & 7));
}

export function alternativeName(name: string): Buffer {
  return isIP(name) ? tagged(7, addressBytes(name), false) : tagged(2, Buffer.from(name, 'ascii'), false);
}

export function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function keyId(spki: Buffer): Buffer {
  return createHash('sha256').update(spki).digest().subarray(0, 20);
}

/** Finds the subject key identifier of an authority's certificate. */
function keyIdIn(extensionList: Element): Buffer | undefined {
  const wanted = oid(SUBJECT_KEY_ID);
  for (const { content } of elementsOf(elementsOf(extensionList.content)[0]?.content ?? Buffer.alloc(0))) {
    const [id, ...rest] = elementsOf(content);
    const value = rest.at(-1);
    if (id && value && id.whole.equals(wanted)) return elementsOf(value.content)[0]?.content;
  }
  return undefined;
}
