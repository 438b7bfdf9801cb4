/** Parses certificate requests (PKCS #10) and verifies that each is signed with its own key. */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { DerError, type Element, elementsOf } from '../../../../protocols/x509/der.ts';
import { requestBytes } from '../../../../protocols/x509/request.ts';

const SEQUENCE = 0x30;
const BIT_STRING = 0x03;
const OBJECT_IDENTIFIER = 0x06;
const MALFORMED = 'asn1: structure error: malformed certificate request';

interface Algorithm {
  readonly key: 'rsa' | 'ec' | 'ed25519';
  readonly hash: string | null;
  readonly failure: string;
}

const rsa = (hash: string): Algorithm => ({ key: 'rsa', hash, failure: 'crypto/rsa: verification error' });
const ecdsa = (hash: string): Algorithm => ({ key: 'ec', hash, failure: 'x509: ECDSA verification failure' });

/** Signature algorithms by the bytes of their object identifiers. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  '2a864886f70d010105': rsa('sha1'),
  '2a864886f70d01010b': rsa('sha256'),
  '2a864886f70d01010c': rsa('sha384'),
  '2a864886f70d01010d': rsa('sha512'),
  '2a8648ce3d0401': ecdsa('sha1'),
  '2a8648ce3d040302': ecdsa('sha256'),
  '2a8648ce3d040303': ecdsa('sha384'),
  '2a8648ce3d040304': ecdsa('sha512'),
  '2b6570': { key: 'ed25519', hash: null, failure: 'x509: Ed25519 verification failure' },
};

/** RSA-PSS, which names its hash in its parameters. */
const RSA_PSS = '2a864886f70d01010a';
const hashes: Readonly<Record<string, string>> = {
  '608648016503040201': 'sha256',
  '608648016503040202': 'sha384',
  '608648016503040203': 'sha512',
};

/** Returns the error in a request in PEM; undefined if it is well-formed and signed with its own key. */
export function requestProblem(pem: string): string | undefined {
  try {
    return signatureProblem(requestBytes(pem));
  } catch (error) {
    if (error instanceof DerError) return error.message;
    throw error;
  }
}

function signatureProblem(der: Buffer): string | undefined {
  const [info, algorithm, signature] = sequence(der, 3);
  const [, , publicKey] = sequence(info!.whole, 3);
  if (signature!.tag !== BIT_STRING || signature!.content[0] !== 0) throw new DerError(MALFORMED);
  const known = algorithmOf(algorithm!);
  if (!known) return 'x509: cannot verify signature: algorithm unimplemented';
  const key = keyOf(publicKey!);
  if (key?.asymmetricKeyType !== known.key) {
    return `x509: signature algorithm specifies an ${known.key.toUpperCase()} public key, but have another`;
  }
  const { padding } = known;
  const options = padding ? { key, padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO } : { key };
  return verify(known.hash, info!.whole, options, signature!.content.subarray(1)) ? undefined : known.failure;
}

/** The elements of a single DER sequence; fails if there are fewer than `count`. */
function sequence(der: Buffer, count: number): Element[] {
  const [whole, ...more] = elementsOf(der);
  if (whole?.tag !== SEQUENCE || more.length > 0) throw new DerError(MALFORMED);
  const parts = elementsOf(whole.content);
  if (parts.length < count) throw new DerError(MALFORMED);
  return parts;
}

function algorithmOf(element: Element): (Algorithm & { readonly padding?: number }) | undefined {
  const [identifier, parameters] = sequence(element.whole, 1);
  if (identifier!.tag !== OBJECT_IDENTIFIER) throw new DerError(MALFORMED);
  const name = identifier!.content.toString('hex');
  if (name !== RSA_PSS) return Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;
  const named = parameters && elementsOf(parameters.content)[0];
  const hash = named && hashes[sequence(named.content, 1)[0]!.content.toString('hex')];
  return hash ? { ...rsa(hash), padding: constants.RSA_PKCS1_PSS_PADDING } : undefined;
}

function keyOf({ whole }: Element): KeyObject | undefined {
  try {
    return createPublicKey({ key: whole, format: 'der', type: 'spki' });
  } catch {
    // The error depends on the version of OpenSSL, so it is replaced.
    throw new DerError('x509: malformed public key');
  }
}
