/** An endpoint of a Service. */
import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, labelValue } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { canonicalIpProblems } from '../../shapes/meta/addresses/canonical-ip.ts';
import { endpointIpProblems, ipFamily, ipProblems } from '../../shapes/meta/addresses/ip-address.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';

const MAX_ADDRESSES = 100;
const MAX_HINTS = 8;

const EndpointConditions = s.object(
  'EndpointConditions',
  'State of an endpoint, which decides whether it receives traffic.',
  {
    ready: s.boolean(
      'Whether the endpoint should receive traffic. False for a pod that is terminating, unless the Service publishes endpoints that are not ready. Absent counts as true.',
    ),
    serving: s.boolean(
      'Whether the endpoint can serve traffic, even while it is terminating. Absent means the same as ready.',
    ),
    terminating: s.boolean('Whether the endpoint is shutting down. Absent counts as false.'),
  },
);

const ForZone = s.object('ForZone', 'A zone that an endpoint should serve.', {
  name: s.string('Name of the zone.', { zero: true, rules: [matches(labelValue)] }),
});
const ForNode = s.object(
  'ForNode',
  'A node that an endpoint should serve.',
  { name: s.string('Name of the node.', { zero: true }) },
  { rules: [isNode] },
);

const EndpointHints = s.object(
  'EndpointHints',
  'Which clients should prefer this endpoint, for topology-aware routing.',
  {
    forZones: s.list(ForZone, 'Zones whose clients should prefer this endpoint. At most 8.', {
      maxItems: MAX_HINTS,
      rules: [unique('name')],
    }),
    forNodes: s.list(ForNode, 'Nodes whose clients should prefer this endpoint. At most 8.', {
      maxItems: MAX_HINTS,
      rules: [unique('name')],
    }),
  },
);

const fields = {
  addresses: s.set(
    s.string(),
    "Addresses of the endpoint, of the slice's addressType. At least 1 and at most 100, but consumers use only the first.",
    { required: 'must contain at least 1 address', maxItems: MAX_ADDRESSES },
  ),
  conditions: s.use(EndpointConditions, 'Whether the endpoint is ready, serving or terminating.', { default: {} }),
  hostname: s.string(
    'Host name of the endpoint, which gives it a DNS name of its own below that of the Service. Must be a DNS label.',
  ),
  targetRef: s.use(ObjectReference, 'Reference to the object behind the endpoint, usually a Pod.'),
  deprecatedTopology: s.map(
    s.string(),
    'Topology labels of the v1beta1 API. Not stored; use nodeName and zone instead.',
  ),
  nodeName: s.string('Name of the node that hosts the endpoint. Lets consumers find endpoints on their own node.'),
  zone: s.string('Name of the zone the endpoint is in.'),
  hints: EndpointHints,
};

type Endpoint = ObjectType<typeof fields>;

export const Endpoint = s.object('Endpoint', 'One backend of a Service, usually a pod.', fields, { rules: [endpoint] });

type Context = RuleContext<Endpoint, { readonly addressType: string }>;

/** Checks fields that may be absent but not empty; the rules of a field are not called for an empty string. */
function endpoint({ addresses = [], nodeName, hostname }: Endpoint, { root }: Context): FieldError[] {
  const found = addresses.flatMap((each, index) => address(root.addressType, each, `addresses[${index}]`));
  if (nodeName !== undefined) addAll(found, complaints('nodeName', nodeName, dnsSubdomain(nodeName)));
  if (hostname !== undefined) addAll(found, complaints('hostname', hostname, dnsLabel(hostname)));
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

/** A trailing dot is allowed. */
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
