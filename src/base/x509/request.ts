/** Reading a request for a certificate (PKCS #10): who asks, for which names, with which key. It checks no signature. */
import { createPublicKey } from 'node:crypto';
import { DerError, type Element, elementsOf } from './der-reader.ts';
import { pemBlocks } from './pem.ts';

export interface ParsedRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The subject and the key as they stand in the request. */
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly keyType: string;
  readonly dnsNames: readonly string[];
  /** In their usual form. */
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** The names above as they stand in the request. */
  readonly names: readonly Buffer[];
}

const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const EXTENSION_REQUEST = '2a864886f70d01090e';
const ALTERNATIVE_NAMES = '551d11';
const ATTRIBUTES = 0xa0;
const BMP_STRING = 0x1e;

/** Throws a DerError for what is no request. */
export function parseRequest(pem: string): ParsedRequest {
  const block = pemBlocks(pem).next().value;
  if (block?.type !== 'CERTIFICATE REQUEST') throw new DerError('PEM block type must be CERTIFICATE REQUEST');
  const [info] = partsOf(elementsOf(block.bytes)[0]);
  const [, subject, publicKey, ...rest] = partsOf(info);
  if (!subject || !publicKey) throw new DerError('asn1: structure error: malformed certificate request');
  const attributes = elementsOf(subject.content).flatMap((set) => elementsOf(set.content).map(nameAttribute));
  const texts = (type: string) => attributes.filter((each) => each.type === type).map((each) => each.text);
  const names = namesIn(rest.find(({ tag }) => tag === ATTRIBUTES));
  const tagged = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => content);
  const ascii = (tag: number) => tagged(tag).map((content) => content.toString('latin1'));
  return {
    commonName: texts(COMMON_NAME).at(-1) ?? '',
    organizations: texts(ORGANIZATION),
    subject: subject.whole,
    publicKey: publicKey.whole,
    keyType: keyTypeOf(publicKey),
    emails: ascii(0x81),
    dnsNames: ascii(0x82),
    uris: ascii(0x86),
    addresses: tagged(0x87).map(addressOf),
    // Names of other sorts are not certified.
    names: names.filter(({ tag }) => [0x81, 0x82, 0x86, 0x87].includes(tag)).map(({ whole }) => whole),
  };
}

function partsOf(element: Element | undefined): Element[] {
  if (!element) throw new DerError('asn1: structure error: malformed certificate request');
  return elementsOf(element.content);
}

function nameAttribute(element: Element): { type: string; text: string } {
  const [type, value] = elementsOf(element.content);
  if (!type || !value) throw new DerError('x509: malformed subject');
  return { type: type.content.toString('hex'), text: textOf(value) };
}

function textOf({ tag, content }: Element): string {
  return tag === BMP_STRING ? Buffer.from(content).swap16().toString('utf16le') : content.toString('utf8');
}

/** The alternative names of the extensions that are asked for. */
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

function keyTypeOf({ whole }: Element): string {
  try {
    return createPublicKey({ key: whole, format: 'der', type: 'spki' }).asymmetricKeyType ?? '';
  } catch (cause) {
    throw new DerError('x509: malformed public key', { cause });
  }
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError(`x509: cannot parse IP address of length ${bytes.length}`);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  // The URL parser knows how an address is shortened.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
