/**
 * Parses a certificate signing request (PKCS #10): its subject, names and key. Does not check the signature. The parsed
 * values are encoded again for the certificate, so that it contains what was parsed here, even if other programs would
 * parse the bytes of the request differently.
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { alternativeName, type Content, nameOf, type Subject, signatureOf, spkiOf } from './certificate.ts';
import {
  bits,
  DerError,
  type Element,
  element,
  elementsOf,
  integer,
  octets,
  oid,
  sequence,
  set,
  tagged,
  utf8,
} from './der.ts';
import { pemBlocks, pemOf } from './pem.ts';

export interface ParsedRequest extends Pick<Content, 'subject' | 'publicKey' | 'names'> {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly keyType: string;
  readonly dnsNames: readonly string[];
  /** IP addresses in canonical form. */
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
}

const IDENTIFIER = 0x06;
const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const EXTENSION_REQUEST = '2a864886f70d01090e';
const ALTERNATIVE_NAMES = '551d11';
const ATTRIBUTES = 0xa0;
/** UTF8String, PrintableString and IA5String; programs disagree on the encoding of the others. */
const TEXTS = [0x0c, 0x13, 0x16];
const NAMES = [0x81, 0x82, 0x86, 0x87];

/** Limit for the size: real requests have a hundredth of this, and parsing takes time for each element. */
const MAX_REQUEST_BYTES = 64 * 1024;

/** Decodes the PEM of a request. Throws a DerError when the text is something else. */
export function requestBytes(pem: string): Buffer {
  const block = pemBlocks(pem).next().value;
  if (block?.type !== 'CERTIFICATE REQUEST') throw new DerError('PEM block type must be CERTIFICATE REQUEST');
  if (block.bytes.length > MAX_REQUEST_BYTES)
    throw new DerError(`x509: the request has more than ${MAX_REQUEST_BYTES} bytes`);
  return block.bytes;
}

/** Parses a request. Throws a DerError when the text is not one. */
export function parseRequest(pem: string): ParsedRequest {
  const [info] = partsOf(elementsOf(requestBytes(pem))[0]);
  const [, subject, publicKey, ...rest] = partsOf(info);
  if (!subject || !publicKey) throw new DerError('asn1: structure error: malformed certificate request');
  const attributes = elementsOf(subject.content).flatMap((set) => elementsOf(set.content).map(nameAttribute));
  const texts = (type: string) => attributes.filter((each) => each.type === type).map((each) => each.text);
  const [commonName = '', ...others] = texts(COMMON_NAME);
  // Programs disagree on which of several common names to use.
  if (others.length > 0) throw new DerError('x509: more than one common name');
  const key = keyOf(publicKey);
  const names = namesIn(rest.find(({ tag }) => tag === ATTRIBUTES));
  const tagged = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => content);
  const ascii = (tag: number) => tagged(tag).map((content) => content.toString('latin1'));
  return {
    commonName,
    organizations: texts(ORGANIZATION),
    subject: sequence(...attributes.map(({ id, text }) => set(sequence(id, utf8(text))))),
    publicKey: key.export({ type: 'spki', format: 'der' }),
    keyType: key.asymmetricKeyType ?? '',
    emails: ascii(0x81),
    dnsNames: ascii(0x82),
    uris: ascii(0x86),
    addresses: tagged(0x87).map(addressOf),
    // Drops other types of names, which are not supported.
    names: names.filter(({ tag }) => NAMES.includes(tag)).map(({ tag, content }) => element(tag, content)),
  };
}

function partsOf(element: Element | undefined): Element[] {
  if (!element) throw new DerError('asn1: structure error: malformed certificate request');
  return elementsOf(element.content);
}

interface Attribute {
  readonly type: string;
  /** The type, DER-encoded. */
  readonly id: Buffer;
  readonly text: string;
}

function nameAttribute({ content }: Element): Attribute {
  const [type, value, ...more] = elementsOf(content);
  if (!type || !isIdentifier(type) || !value || more.length > 0) throw new DerError('x509: malformed subject');
  return { type: type.content.toString('hex'), id: element(IDENTIFIER, type.content), text: textOf(value) };
}

/** Checks base-128 numbers: the last byte of each has no high bit, and none starts with zeros. */
function isIdentifier({ tag, content }: Element): boolean {
  const isFirst = (index: number) => index === 0 || content[index - 1]! < 0x80;
  return (
    tag === IDENTIFIER &&
    content.length > 0 &&
    content[content.length - 1]! < 0x80 &&
    !content.some((byte, index) => byte === 0x80 && isFirst(index))
  );
}

function textOf({ tag, content }: Element): string {
  const text = content.toString('utf8');
  if (!TEXTS.includes(tag) || !Buffer.from(text).equals(content) || /\p{Cc}/u.test(text)) {
    throw new DerError('x509: the subject has text that cannot be read');
  }
  return text;
}

/** Returns the alternative names among the requested extensions. */
function namesIn(attributes: Element | undefined): Element[] {
  for (const attribute of attributes ? elementsOf(attributes.content) : []) {
    const [type, values] = elementsOf(attribute.content);
    if (type?.content.toString('hex') !== EXTENSION_REQUEST || !values) continue;
    for (const list of elementsOf(values.content)) {
      for (const extension of elementsOf(list.content)) {
        const [id, ...rest] = elementsOf(extension.content);
        const value = rest.at(-1);
        if (id?.content.toString('hex') !== ALTERNATIVE_NAMES || !value) continue;
        return partsOf(elementsOf(value.content)[0]);
      }
    }
  }
  return [];
}

function keyOf({ whole }: Element): KeyObject {
  try {
    return createPublicKey({ key: whole, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new DerError('x509: malformed public key', { cause });
  }
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError(`x509: cannot parse IP address of length ${bytes.length}`);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  // The URL parser shortens the address to its canonical form.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

interface RequestContent {
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
