/** One of those that stand behind a service. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, labelValue } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { canonicalIpProblems } from '../../shapes/meta/canonical-ip.ts';
import { endpointIpProblems, ipFamily, ipProblems } from '../../shapes/meta/ip-address.ts';
import { atMost } from '../../shapes/meta/list-length.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';

const MAX_ADDRESSES = 100;
const MAX_HINTS = 8;

const EndpointConditions = s.object('EndpointConditions', {
  ready: s.boolean({ description: 'It takes traffic. Where nothing is said, it does.' }),
  serving: s.boolean({ description: 'Like ready, but true also of one that serves while it is on its way out.' }),
  terminating: s.boolean({ description: 'It is on its way out.' }),
});

const ForZone = s.object('ForZone', { name: s.string({ zero: true, rules: [matches(labelValue)] }) });
const ForNode = s.object('ForNode', { name: s.string({ zero: true }) }, { rules: [isNode] });

const EndpointHints = s.object('EndpointHints', {
  forZones: s.list(ForZone, {
    description: 'Clients in these zones should prefer it.',
    rules: [atMost(MAX_HINTS), unique('name')],
  }),
  forNodes: s.list(ForNode, {
    description: 'Clients on these nodes should prefer it.',
    rules: [atMost(MAX_HINTS), unique('name')],
  }),
});

const fields = {
  addresses: s.set(s.string(), {
    required: 'must contain at least 1 address',
    description: 'Its addresses, of the type that the slice says. Clients use the first.',
    rules: [atMost(MAX_ADDRESSES)],
  }),
  conditions: s.use(EndpointConditions, { default: {} }),
  hostname: s.string({ description: 'The name that DNS has for it alone.' }),
  targetRef: s.use(ObjectReference, { description: 'The pod behind it.' }),
  deprecatedTopology: s.map(s.string(), { description: 'Part of an older version; what is written here is dropped.' }),
  nodeName: s.string({ description: 'The node it is on.' }),
  zone: s.string({ description: 'The zone it is in.' }),
  hints: EndpointHints,
};

type Endpoint = ObjectType<typeof fields>;

export const Endpoint = s.object('Endpoint', fields, { rules: [endpoint] });

/** Fields that may be absent, but not empty, are looked at here: a field's own rules do not see the empty text. */
function endpoint({ addresses = [], nodeName, hostname }: Endpoint, { root }: RuleContext): FieldError[] {
  const found = addresses.flatMap((each, index) => address(root.addressType, each, `addresses[${index}]`));
  if (nodeName !== undefined) found.push(...complaints('nodeName', nodeName, dnsSubdomain(nodeName)));
  if (hostname !== undefined) found.push(...complaints('hostname', hostname, dnsLabel(hostname)));
  return found;
}

function address(type: string, text: string, field: string): FieldError[] {
  switch (type) {
    case 'IPv4':
    case 'IPv6': {
      const problems = type === 'IPv4' ? ipProblems(text) : canonicalIpProblems(text);
      if (problems.length > 0) return complaints(field, text, problems);
      const found = ipFamily(text) === type ? [] : [invalid('addresses', text, `must be an ${type} address`)];
      return [...found, ...complaints(field, text, endpointIpProblems(text))];
    }
    case 'FQDN':
      return domainName(text, field);
    default:
      return [];
  }
}

/** A dot at the end marks a full name. */
function domainName(text: string, field: string): FieldError[] {
  if (!text) return [required(field)];
  const name = text.replace(/\.$/, '');
  const problems = dnsSubdomain(name);
  if (problems.length > 0) return [invalid(field, name, problems.join(','))];
  const parts = name.split('.');
  if (parts.length < 2)
    return [invalid(field, name, 'should be a domain with at least two segments separated by dots')];
  const wrong = parts.find((part) => dnsLabel(part).length > 0);
  return wrong === undefined ? [] : [invalid(field, wrong, dnsLabel(wrong).join(','))];
}

function isNode({ name }: { name: string }): FieldError[] {
  return complaints('name', name, dnsSubdomain(name));
}

const complaints = (field: string, value: string, words: readonly string[]) =>
  words.map((each) => invalid(field, value, each));
