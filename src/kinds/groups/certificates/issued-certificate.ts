/** Checks a certificate that a signer issued: PEM blocks of type CERTIFICATE, and nothing else. */
import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../../../protocols/x509/pem.ts';

export function certificateProblem(pem: string): string | undefined {
  let blocks = 0;
  for (const { type, hasHeaders, bytes } of pemBlocks(pem)) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
    blocks++;
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(bytes: Buffer): boolean {
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    // The parser throws for anything that is not a certificate; the reason does not matter here.
    return false;
  }
}
