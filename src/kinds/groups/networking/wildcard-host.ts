/** Host names of an Ingress: a DNS name, or one with a wildcard as first label. */
import { dnsSubdomain } from '../../../schema/names.ts';

const PATTERN = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const pattern = new RegExp(`^${PATTERN}$`);
const MAX_LENGTH = 253;

export function hostProblems(host: string): string[] {
  if (!host.includes('*')) return dnsSubdomain(host);
  const problems = host.length > MAX_LENGTH ? [`must be no more than ${MAX_LENGTH} characters`] : [];
  if (!pattern.test(host)) {
    problems.push(
      `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${PATTERN}')`,
    );
  }
  return problems;
}
