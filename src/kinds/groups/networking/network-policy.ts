import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { portNumber } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name, text } from '../../columns/column.ts';
import { labelSelectorText } from '../../columns/selector.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { cidrProblems, parseIp } from '../../shapes/meta/ip-address.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { portNumberOrName } from '../../shapes/meta/port.ts';
import { cidrWarnings } from '../../warnings/addresses.ts';

const policyTypes = ['Ingress', 'Egress'];

const port = {
  protocol: s.enum(['TCP', 'UDP', 'SCTP'], { default: 'TCP' }),
  port: s.intOrString({
    description: 'A number, or the name of a container port; without it, every port of the protocol.',
    rules: [portNumberOrName],
  }),
  endPort: s.int32({ description: 'With a number: every port from there to this one.' }),
};

const block = {
  cidr: s.string({ zero: true, required: true, description: 'The range, such as 192.168.1.0/24.' }),
  except: s.list(s.string(), { description: 'Ranges inside it that are left out.' }),
};

const peer = {
  podSelector: s.use(LabelSelector, {
    description: 'Pods with these labels: of the own namespace, or of those that namespaceSelector selects.',
  }),
  namespaceSelector: s.use(LabelSelector, { description: 'Namespaces with these labels.' }),
  ipBlock: s.object('IPBlock', block, {
    description: 'Addresses outside the cluster. Not together with the others.',
    rules: [rangeWithHoles],
  }),
};

const NetworkPolicyPeer = s.object('NetworkPolicyPeer', peer, { rules: [onePeer] });

const ports = s.list(s.object('NetworkPolicyPort', port, { rules: [endsAfterStart] }), {
  description: 'Only these ports; without any, all ports.',
});

const IngressRule = s.object('NetworkPolicyIngressRule', {
  ports,
  from: s.list(NetworkPolicyPeer, { description: 'Only from these; without any, from everywhere.' }),
});

const EgressRule = s.object('NetworkPolicyEgressRule', {
  ports,
  to: s.list(NetworkPolicyPeer, { description: 'Only to these; without any, to everywhere.' }),
});

/** Who may talk to pods, and whom pods may talk to. */
export const NetworkPolicy = defineKind({
  group: 'networking.k8s.io',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  short: ['netpol'],
  scope: 'Namespaced',
  description:
    'Which traffic may reach or leave the pods that it selects. Pods that no policy selects take and send any traffic; several policies allow what one of them allows.',
  versions: { 'networking.k8s.io/v1': {} },
  fields: {
    spec: s.object(
      'NetworkPolicySpec',
      {
        podSelector: s.use(LabelSelector, {
          default: {},
          description: 'The pods it is for; an empty selector means every pod of the namespace.',
        }),
        ingress: s.list(IngressRule, { description: 'What may come in; without any rule, nothing may.' }),
        egress: s.list(EgressRule, { description: 'What may go out; without any rule, nothing may.' }),
        policyTypes: s.list(s.string(), {
          default: ({ egress }: { egress?: unknown }): string[] => (egress ? policyTypes : ['Ingress']),
          description:
            'Ingress, Egress or both: the directions that it limits. Where absent, Ingress, and Egress if there are rules for it.',
          rules: [knownTypes],
        }),
      },
      { default: {} },
    ),
  },
  generation: true,
  warnings: rangeWarnings,
  columns: [
    name,
    text('Pod-Selector', 'Which pods it speaks of.', ({ spec }) => labelSelectorText(spec?.podSelector)),
    age,
  ],
});
export type NetworkPolicy = ObjectOf<typeof NetworkPolicy>;

function endsAfterStart({ port: start, endPort: end }: ObjectType<typeof port>): FieldError[] {
  if (end === undefined) return [];
  if (start === undefined) return [invalid('endPort', end, 'may not be specified when `port` is not specified')];
  if (typeof start === 'string') return [invalid('endPort', end, 'may not be specified when `port` is non-numeric')];
  const found = end < start ? [invalid('endPort', start, 'must be greater than or equal to `port`')] : [];
  return [...found, ...portNumber(end).map((problem) => invalid('endPort', end, problem))];
}

function rangeWithHoles({ cidr, except = [] }: ObjectType<typeof block>): FieldError[] {
  if (!cidr) return [];
  const found = cidrProblems(cidr).map((problem) => invalid('cidr', cidr, problem));
  const outer = parseRange(cidr);
  if (!outer) return found;
  except.forEach((hole, index) => {
    for (const problem of cidrProblems(hole)) found.push(invalid(`except[${index}]`, hole, problem));
    const inner = parseRange(hole);
    if (inner && !isInside(inner, outer)) {
      found.push(invalid(`except[${index}]`, hole, 'must be a strict subset of `cidr`'));
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

function onePeer({ podSelector, namespaceSelector, ipBlock }: ObjectType<typeof peer>): FieldError | undefined {
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

function rangeWarnings({ spec }: any): string[] {
  const found: string[] = [];
  const peers = (path: string, list: readonly any[] = []) => {
    list.forEach(({ ipBlock }, index) => {
      if (!ipBlock) return;
      const at = `${path}[${index}].ipBlock`;
      found.push(...cidrWarnings(`${at}.cidr`, ipBlock.cidr));
      ipBlock.except?.forEach((range: string, position: number) => {
        found.push(...cidrWarnings(`${at}.except[${position}]`, range));
      });
    });
  };
  spec?.ingress?.forEach(({ from }: any, index: number) => {
    peers(`spec.ingress[${index}].from`, from);
  });
  spec?.egress?.forEach(({ to }: any, index: number) => {
    peers(`spec.egress[${index}].to`, to);
  });
  return found;
}
