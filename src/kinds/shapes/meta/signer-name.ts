/** Names of those who sign certificates, such as `example.com/signer`, and of the trust bundles they publish. */
import { type FieldError, invalid, tooLong } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';

const MAX_DOMAIN = 253;
const MAX_SIGNER_NAME = 571;

export function signerName(name: string): FieldError[] {
  const [domain = '', path, ...more] = name.split('/');
  if (path === undefined || more.length) {
    return [invalid('', name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const found = domain.length > MAX_DOMAIN ? [tooLong('', MAX_DOMAIN)] : [];
  found.push(...firstWrong(domain, dnsLabel));
  if (!domain.includes('.')) {
    found.push(invalid('', domain, 'should be a domain with at least two segments separated by dots'));
  }
  found.push(...firstWrong(path, dnsSubdomain));
  if (name.length > MAX_SIGNER_NAME) found.push(tooLong('', MAX_SIGNER_NAME));
  return found;
}

/** Complaints about the first part between dots that has any. */
function firstWrong(text: string, check: (part: string) => string[]): FieldError[] {
  for (const part of text.split('.')) {
    const complaints = check(part);
    if (complaints.length) {
      return complaints.map((complaint) => invalid('', text, `validating label ${JSON.stringify(part)}: ${complaint}`));
    }
  }
  return [];
}

/** The cluster's own signers. */
export const isClusterSigner = (name: string): boolean => /(^|\.)kubernetes\.io$/.test(name.split('/', 1)[0]!);

/** A bundle that belongs to a signer begins with the signer's name, with colons for slashes. */
export function trustBundleName(name: string): string[] {
  return dnsSubdomain(name.slice(name.lastIndexOf(':') + 1));
}
