/** Tells whether one part of a cluster trusts the certificate of another, at any time. */
import { X509Certificate } from 'node:crypto';
import { blocksOf } from '../../../src/assembly/keys/pki.ts';

/** Everything about a certificate is read once: the test looks at each of them thousands of times. */
interface Read {
  readonly x509: X509Certificate;
  readonly from: number;
  readonly to: number;
  readonly issuers: Map<Read, boolean>;
}

const read = new Map<string, Read>();
const chains = new Map<string, Read[]>();
function certificates(pem: string): Read[] {
  const known = chains.get(pem) ?? blocksOf(pem).map((block) => read.get(block) ?? readOne(block));
  chains.set(pem, known);
  return known;
}

function readOne(block: string): Read {
  const x509 = new X509Certificate(block);
  const one = { x509, from: Date.parse(x509.validFrom), to: Date.parse(x509.validTo), issuers: new Map() };
  read.set(block, one);
  return one;
}

function isIssuedBy(each: Read, by: Read): boolean {
  const found = each.issuers.get(by) ?? (each.x509.checkIssued(by.x509) && each.x509.verify(by.x509.publicKey));
  each.issuers.set(by, found);
  return found;
}

/** Explains why a chain is not trusted at a time; undefined when it is. */
export function distrust(chain: string, roots: string, now: number): string | undefined {
  const isValid = ({ from, to }: Read) => from <= now && now < to;
  const [leaf, ...intermediates] = certificates(chain);
  if (!leaf || !isValid(leaf)) return `the certificate ${leaf?.x509.subject} is not valid until ${leaf?.x509.validTo}`;
  const anchors = certificates(roots).filter(isValid);
  const reaches = (each: Read, depth: number): boolean =>
    anchors.some((root) => isIssuedBy(each, root)) ||
    (depth > 0 && intermediates.filter(isValid).some((via) => isIssuedBy(each, via) && reaches(via, depth - 1)));
  return reaches(leaf, 3) ? undefined : `${leaf.x509.subject}, issued by ${leaf.x509.issuer}, is not trusted`;
}
