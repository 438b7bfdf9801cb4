import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name, text } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { canonicalCidrProblems } from '../../shapes/meta/canonical-ip.ts';
import { Condition } from '../../shapes/meta/condition.ts';
import { ipFamily } from '../../shapes/meta/ip-address.ts';

const fields = {
  spec: s.object(
    'ServiceCIDRSpec',
    {
      cidrs: s.list(s.string(), {
        description:
          'The ranges in CIDR notation: one, or one IPv4 and one IPv6 range. Required. Cannot be changed, except that a range of the second IP family can be added.',
      }),
    },
    { default: {}, description: 'The address ranges.' },
  ),
  status: s.object(
    'ServiceCIDRStatus',
    {
      conditions: s.listMap(Condition, {
        keys: ['type'],
        description:
          'Latest observations of the state of the ranges. Ready is True while addresses can be allocated from them.',
      }),
    },
    { default: {}, description: 'Most recently observed state of the ranges.' },
  ),
};

export type ServiceCIDR = KubeObject & ObjectType<typeof fields>;

/** A range that the addresses of services come from. */
export const ServiceCIDR = defineKind({
  group: 'networking.k8s.io',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  scope: 'Cluster',
  description:
    'A range of IP addresses, or one for each IP family, that the cluster IPs of Services are allocated from.',
  versions: { 'networking.k8s.io/v1': {} },
  fields,
  subresources: { status: true },
  rules: [
    ({ spec }: ServiceCIDR, { operation, oldRoot, subresource }: RuleContext) => {
      if (subresource === 'status') return [];
      return operation === 'create' ? ranges(spec.cidrs) : changes(spec.cidrs, oldRoot.spec.cidrs);
    },
  ],
  columns: [name, text('CIDRs', 'The ranges of addresses.', ({ spec }) => spec?.cidrs?.join(',') ?? ''), age],
});

const FIELD = 'spec.cidrs';

function ranges(cidrs: readonly string[] = []): FieldError[] {
  if (cidrs.length === 0) return [required(FIELD, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(FIELD, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const found = cidrs.flatMap((cidr, index) =>
    canonicalCidrProblems(cidr).map((problem) => invalid(`${FIELD}[${index}]`, cidr, problem)),
  );
  const [first, second] = cidrs.map((cidr) => ipFamily(cidr.split('/')[0]!));
  if (cidrs.length === 2 && first && first === second) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    found.push(invalid(FIELD, cidrs, detail));
  }
  return found;
}

/** What is there stays; a range of the other family may join it. */
function changes(now: readonly string[] = [], then: readonly string[] = []): FieldError[] {
  const grows = then.length === 1 && now.length === 2;
  if (now.length !== then.length && !grows) return [invalid(FIELD, now, 'field is immutable')];
  const changed = then.flatMap((cidr, index) =>
    cidr === now[index] ? [] : [invalid(`${FIELD}[${index}]`, now[index], 'field is immutable')],
  );
  return grows ? [...changed, ...ranges(now)] : changed;
}
