import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { alternativeName, nameOf, type Subject, signatureOf, spkiOf } from './certificate.ts';
import { bits, integer, octets, oid, sequence, set, tagged } from './der.ts';
import { pemOf } from './pem.ts';

export interface RequestContent {
  readonly subject: Subject;
  /** DNS names and addresses. */
  readonly names?: readonly string[];
}

/** Creates a certificate request for this key (PKCS #10), as PEM. */
export function newRequest({ subject, names = [] }: RequestContent, key: KeyObject): string {
  const { algorithm, hash } = signatureOf(key);
  const extension = sequence(oid('2.5.29.17'), octets(sequence(...names.map(alternativeName))));
  const wanted = sequence(oid('1.2.840.113549.1.9.14'), set(sequence(extension)));
  const attributes = names.length > 0 ? wanted : Buffer.alloc(0);
  const info = sequence(integer(Buffer.of(0)), nameOf(subject), spkiOf(createPublicKey(key)), tagged(0, attributes));
  return pemOf('CERTIFICATE REQUEST', sequence(info, algorithm, bits(sign(hash, info, key))));
}
