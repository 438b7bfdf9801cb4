import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { portNumber } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { labelSelectorText } from '../../columns/selector.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { cidrProblems, parseIp } from '../../shapes/meta/addresses/ip-address.ts';
import { portNumberOrName } from '../../shapes/meta/addresses/port.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { cidrWarnings } from '../../warnings/addresses.ts';

const policyTypes = ['Ingress', 'Egress'];

const port = {
  protocol: s.enum(['TCP', 'UDP', 'SCTP'], 'Protocol of the traffic: TCP, UDP or SCTP. Defaults to TCP.', {
    default: 'TCP',
  }),
  port: s.intOrString('Port number, or the name of a container port. Without it all ports of the protocol match.', {
    rules: [portNumberOrName],
  }),
  endPort: s.int32('Last port of a range that starts at port. Requires a numeric port, and must not be lower.'),
};

const block = {
  cidr: s.string('Address range in CIDR notation, such as 192.168.1.0/24 or 2001:db8::/64. Required.', {
    zero: true,
    required: true,
  }),
  except: s.list(s.string(), 'Ranges inside cidr that do not match.'),
};

const peer = {
  podSelector: s.use(
    LabelSelector,
    "Pods by their labels: in the policy's own namespace, or in the namespaces that namespaceSelector selects. An empty selector matches all pods.",
  ),
  namespaceSelector: s.use(
    LabelSelector,
    'Namespaces by their labels: all their pods, or those that podSelector selects. An empty selector matches all namespaces.',
  ),
  ipBlock: s.object(
    'IPBlock',
    'Range of IP addresses, usually outside the cluster. Cannot be combined with podSelector or namespaceSelector.',
    block,
    { rules: [blockIsValid] },
  ),
};

const NetworkPolicyPeer = s.object('NetworkPolicyPeer', 'Pods or addresses at the other end of the traffic.', peer, {
  rules: [peerIsValid],
});

const ports = s.list(
  s.object('NetworkPolicyPort', 'A port, or a range of ports, that traffic may use.', port, { rules: [portRange] }),
  'Destination ports the rule allows. Without any, all ports are allowed.',
);

const IngressRule = s.object(
  'NetworkPolicyIngressRule',
  'Allows incoming traffic that matches both its ports and its sources.',
  {
    ports,
    from: s.list(NetworkPolicyPeer, 'Sources the rule allows. Without any, all sources are allowed.'),
  },
);

const EgressRule = s.object(
  'NetworkPolicyEgressRule',
  'Allows outgoing traffic that matches both its ports and its destinations.',
  {
    ports,
    to: s.list(NetworkPolicyPeer, 'Destinations the rule allows. Without any, all destinations are allowed.'),
  },
);

/** Restricts the network traffic of pods. */
export const NetworkPolicy = defineKind({
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  short: ['netpol'],
  scope: 'Namespaced',
  description:
    'Restricts the network traffic of the pods it selects: once a policy selects a pod for a direction, only traffic that some policy allows is accepted in that direction. Policies add up. Pods that no policy selects are not restricted.',
  versions: { 'networking.k8s.io/v1': {} },
  fields: {
    spec: s.struct('NetworkPolicySpec', 'The selected pods, and the traffic they are allowed.', {
      podSelector: s.use(
        LabelSelector,
        'Pods the policy applies to, by their labels. An empty selector matches all pods of the namespace.',
        { default: {} },
      ),
      ingress: s.list(
        IngressRule,
        'Incoming traffic that is allowed. Without any rule, a policy of type Ingress allows none.',
      ),
      egress: s.list(
        EgressRule,
        'Outgoing traffic that is allowed. Without any rule, a policy of type Egress allows none.',
      ),
      policyTypes: s.list(
        s.string(),
        'Directions the policy restricts: `Ingress`, `Egress` or both. Defaults to Ingress, and to both if there are egress rules.',
        {
          default: ({ egress }: { egress?: unknown }): string[] => (egress ? policyTypes : ['Ingress']),
          rules: [knownTypes],
        },
      ),
    }),
  },
  generation: true,
  warnings: rangeWarnings,
  columns: ({ text }) => [
    name,
    text('Pod-Selector', 'Label selector for the restricted pods.', ({ spec }) => labelSelectorText(spec?.podSelector)),
    age,
  ],
});
export type NetworkPolicy = ObjectOf<typeof NetworkPolicy>;

function portRange({ port: start, endPort: end }: ObjectType<typeof port>): FieldError[] {
  if (end === undefined) return [];
  if (start === undefined) return [invalid('endPort', end, 'may not be specified when `port` is not specified')];
  if (typeof start === 'string') return [invalid('endPort', end, 'may not be specified when `port` is non-numeric')];
  const found = end < start ? [invalid('endPort', start, 'must be greater than or equal to `port`')] : [];
  return [...found, ...portNumber(end).map((problem) => invalid('endPort', end, problem))];
}

function blockIsValid({ cidr, except = [] }: ObjectType<typeof block>): FieldError[] {
  if (!cidr) return [];
  const found = cidrProblems(cidr).map((problem) => invalid('cidr', cidr, problem));
  const outer = parseRange(cidr);
  if (!outer) return found;
  except.forEach((exception, index) => {
    for (const problem of cidrProblems(exception)) found.push(invalid(`except[${index}]`, exception, problem));
    const inner = parseRange(exception);
    if (inner && !isInside(inner, outer)) {
      found.push(invalid(`except[${index}]`, exception, 'must be a strict subset of `cidr`'));
    }
  });
  return found;
}

interface Range {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

function parseRange(cidr: string): Range | undefined {
  const [address = '', length = ''] = cidr.split('/');
  const bytes = parseIp(address);
  const bits = Number(length);
  return bytes && /^\d+$/.test(length) && bits <= bytes.length * 8 ? { bytes, bits } : undefined;
}

function isInside(inner: Range, outer: Range): boolean {
  if (inner.bytes.length !== outer.bytes.length || inner.bits <= outer.bits) return false;
  return outer.bytes.every((byte, index) => {
    const compared = Math.min(8, Math.max(0, outer.bits - index * 8));
    return (byte ^ inner.bytes[index]!) >> (8 - compared) === 0;
  });
}

function peerIsValid({ podSelector, namespaceSelector, ipBlock }: ObjectType<typeof peer>): FieldError | undefined {
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && !ipBlock) return required('', 'must specify a peer');
  return selects && ipBlock ? forbidden('', 'may not specify both ipBlock and another peer') : undefined;
}

function knownTypes(types: readonly string[]): FieldError[] {
  if (types.length > policyTypes.length) return [invalid('', types, 'may not specify more than two policyTypes')];
  return types.flatMap((type, index) =>
    policyTypes.includes(type) ? [] : [notSupported(`[${index}]`, type, policyTypes)],
  );
}

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Policy {
  readonly spec: {
    readonly ingress?: readonly { readonly from?: readonly Peer[] }[];
    readonly egress?: readonly { readonly to?: readonly Peer[] }[];
  };
}

function rangeWarnings({ spec }: Policy): string[] {
  const found: string[] = [];
  const peers = (path: string, list: readonly Peer[] = []) => {
    list.forEach(({ ipBlock }, index) => {
      if (!ipBlock) return;
      const at = `${path}[${index}].ipBlock`;
      addAll(found, cidrWarnings(`${at}.cidr`, ipBlock.cidr));
      ipBlock.except?.forEach((range, position) => {
        addAll(found, cidrWarnings(`${at}.except[${position}]`, range));
      });
    });
  };
  spec.ingress?.forEach(({ from }, index) => {
    peers(`spec.ingress[${index}].from`, from);
  });
  spec.egress?.forEach(({ to }, index) => {
    peers(`spec.egress[${index}].to`, to);
  });
  return found;
}
