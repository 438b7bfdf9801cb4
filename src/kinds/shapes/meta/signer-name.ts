/** Names of certificate signers, such as `example.com/signer`, and of their trust bundles. */
import { addAll } from '../../../base/collections/add-all.ts';
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
  addAll(found, firstWrong(domain, dnsLabel));
  if (!domain.includes('.')) {
    found.push(invalid('', domain, 'should be a domain with at least two segments separated by dots'));
  }
  addAll(found, firstWrong(path, dnsSubdomain));
  if (name.length > MAX_SIGNER_NAME) found.push(tooLong('', MAX_SIGNER_NAME));
  return found;
}

/** Complaints about the first invalid part between dots. */
function firstWrong(text: string, check: (part: string) => string[]): FieldError[] {
  for (const part of text.split('.')) {
    const complaints = check(part);
    if (complaints.length) {
      return complaints.map((complaint) => invalid('', text, `validating label ${JSON.stringify(part)}: ${complaint}`));
    }
  }
  return [];
}

/** The built-in signers. */
export const isClusterSigner = (name: string): boolean => /(^|\.)kubernetes\.io$/.test(name.split('/', 1)[0]!);

/** The name of a signer's bundle starts with the signer's name, with colons instead of slashes. */
export function trustBundleName(name: string): string[] {
  return dnsSubdomain(name.slice(name.lastIndexOf(':') + 1));
}
