/**
 * Writing certificates: ECDSA P-256 keys, SHA-256 signatures, and the extensions that Go, OpenSSL and browsers ask for.
 * Keys and signatures are node:crypto's; only the envelope is made here, because a certificate library takes longer to
 * load than a whole start may last (see docs/dependencies.md).
 */
import { createHash, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type { Random } from '../../base/random.ts';
import { addressBytes, bits, boolean, integer, octets, oid, sequence, set, tagged, time, utf8 } from './der.ts';

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

/** A certificate with its key. */
export interface Identity {
  readonly certificate: string;
  readonly key: KeyObject;
}

export interface CertificateRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly usage: 'authority' | 'server' | 'client';
  /** DNS names and addresses. */
  readonly names?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Issuer {
  readonly subject: Subject;
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

export async function newKey(): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  return await promisify(generateKeyPair)('ec', { namedCurve: 'prime256v1' });
}

/** The certificate as PEM. */
export function issue(request: CertificateRequest, issuer: Issuer, random: Random): string {
  const body = sequence(
    tagged(0, integer(Buffer.of(2))),
    integer(serial(random)),
    ECDSA_WITH_SHA256,
    nameOf(issuer.subject),
    sequence(time(request.notBefore), time(request.notAfter)),
    nameOf(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions(request, issuer))),
  );
  return pem(sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, issuer.key))));
}

/** Positive and never zero, with 127 bits of chance. */
function serial(random: Random): Buffer {
  const bytes = random.bytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

function nameOf({ commonName, organization }: Subject): Buffer {
  const part = (type: string, value: string) => set(sequence(oid(type), utf8(value)));
  return sequence(...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName));
}

function extensions({ usage, publicKey, names = [] }: CertificateRequest, issuer: Issuer): Buffer[] {
  const extension = (id: string, critical: boolean, value: Buffer) =>
    sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
  const authority = usage === 'authority';
  const found = [
    extension('2.5.29.19', true, sequence(...(authority ? [boolean(true)] : []))),
    // digitalSignature and, for an authority, keyCertSign and cRLSign.
    extension('2.5.29.15', true, authority ? bits(Buffer.of(0x86), 1) : bits(Buffer.of(0x80), 7)),
    extension('2.5.29.14', false, octets(keyId(publicKey))),
    extension('2.5.29.35', false, sequence(tagged(0, keyId(issuer.publicKey), false))),
  ];
  if (!authority) {
    const purpose = usage === 'server' ? '1.3.6.1.5.5.7.3.1' : '1.3.6.1.5.5.7.3.2';
    found.push(extension('2.5.29.37', false, sequence(oid(purpose))));
  }
  if (names.length > 0) found.push(extension('2.5.29.17', false, sequence(...names.map(alternativeName))));
  return found;
}

function alternativeName(name: string): Buffer {
  return isIP(name) ? tagged(7, addressBytes(name), false) : tagged(2, Buffer.from(name, 'ascii'), false);
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
