/** Checks a bundle of trust anchors: PEM blocks of certificates of authorities, each of them once. */
import { X509Certificate } from 'node:crypto';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { type PemBlock, pemBlocks } from '../../../../protocols/x509/pem.ts';
import { type FieldError, invalid, tooLong } from '../../../../schema/field-error.ts';

const MAX_BUNDLE_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 100;
const OMITTED = '<value omitted>';

export function trustAnchorProblems(bundle: string): readonly FieldError[] {
  if (Buffer.byteLength(bundle) > MAX_BUNDLE_BYTES) return [tooLong('', MAX_BUNDLE_BYTES)];
  const problems: string[] = [];
  const anchors = new Map<string, number[]>();
  let index = 0;
  for (const block of pemBlocks(bundle)) {
    const problem = blockProblem(block);
    if (problem) problems.push(`entry ${index} ${problem}`);
    // Each block that is no certificate costs an exception, and a bundle has room for very many.
    if (problems.length >= MAX_PROBLEMS) break;
    const key = block.bytes.toString('latin1');
    getOrInsert(anchors, key, () => []).push(index);
    index++;
  }
  if (problems.length === 0 && anchors.size === 0) problems.push('at least one trust anchor must be provided');
  if (problems.length === 0) {
    for (const places of anchors.values()) {
      if (places.length > 1) problems.push(`duplicate trust anchor (indices [${places.join(' ')}])`);
    }
  }
  return problems.map((problem) => invalid('', OMITTED, problem));
}

function blockProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  const certificate = parsed(bytes);
  if (!certificate) return 'does not parse as X.509';
  return certificate.ca ? undefined : 'does not have the CA bit set';
}

function parsed(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    // The parser throws for anything that is not a certificate; the reason does not matter here.
    return undefined;
  }
}
