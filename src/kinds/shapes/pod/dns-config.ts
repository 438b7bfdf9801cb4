/** DNS settings of a pod, merged with those of its `dnsPolicy`. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ipProblems } from '../meta/addresses/ip-address.ts';

/** Limits of the resolvers in common C libraries. */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

const LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SEARCH = `${LABEL}(\\.${LABEL})*`;
const searchPattern = new RegExp(`^${SEARCH}$`);

const config = {
  nameservers: s.list(
    s.string(),
    'IP addresses of name servers, added after those of dnsPolicy. At most 3; at least one if dnsPolicy is ' + 'None.',
  ),
  searches: s.list(
    s.string(),
    'Search domains for host name lookups, added after those of dnsPolicy. At most 32, with 2048 characters ' +
      'in total.',
  ),
  options: s.list(
    s.object('PodDNSConfigOption', 'An option of the resolver, as in resolv.conf.', {
      name: s.string('Name of the option, such as ndots. Required.'),
      value: s.string('Value of the option, if it takes one.'),
    }),
    'Resolver options, merged with those of dnsPolicy; options given here take precedence.',
  ),
};
type PodDNSConfig = ObjectType<typeof config>;

export const PodDNSConfig = s.object(
  'PodDNSConfig',
  'DNS settings of a pod. They are merged with those of its dnsPolicy; with the policy None they are all ' +
    'there is.',
  config,
  { rules: [fitsResolvers] },
);

function fitsResolvers({ nameservers = [], searches = [], options = [] }: PodDNSConfig): FieldError[] {
  const found: FieldError[] = [];
  if (nameservers.length > MAX_NAMESERVERS) {
    found.push(invalid('nameservers', nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`));
  }
  nameservers.forEach((server, index) => {
    for (const complaint of ipProblems(server)) found.push(invalid(`nameservers[${index}]`, server, complaint));
  });
  if (searches.length > MAX_SEARCHES) {
    found.push(invalid('searches', searches, `must not have more than ${MAX_SEARCHES} search paths`));
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    found.push(invalid('searches', searches, detail));
  }
  searches.forEach((search, index) => {
    if (search === '.') return;
    const domain = search.replace(/\.$/, '');
    for (const complaint of searchProblems(domain)) found.push(invalid(`searches[${index}]`, domain, complaint));
  });
  options.forEach(({ name }, index) => {
    if (!name) found.push(required(`options[${index}]`, 'must not be empty'));
  });
  return found;
}

function searchProblems(domain: string): string[] {
  const complaints = domain.length > 253 ? ['must be no more than 253 characters'] : [];
  if (!searchPattern.test(domain)) {
    complaints.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SEARCH}')`,
    );
  }
  return complaints;
}

/** The policy None requires nameservers in the pod's own configuration. */
export function dnsPolicyRules(dnsPolicy: string | undefined, dnsConfig: PodDNSConfig | undefined): FieldError[] {
  if (dnsPolicy !== 'None') return [];
  if (!dnsConfig) return [required('dnsConfig', 'must provide `dnsConfig` when `dnsPolicy` is None')];
  if (dnsConfig.nameservers?.length) return [];
  return [required('dnsConfig.nameservers', 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
}
