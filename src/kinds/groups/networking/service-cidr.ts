import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { canonicalCidrProblems } from '../../shapes/meta/addresses/canonical-ip.ts';
import { ipFamily } from '../../shapes/meta/addresses/ip-address.ts';
import { Condition } from '../../shapes/meta/condition.ts';

const fields = {
  spec: s.struct('ServiceCIDRSpec', 'The address ranges.', {
    cidrs: s.list(
      s.string(),
      'The ranges in CIDR notation: one, or one IPv4 and one IPv6 range. Required. Cannot be changed, except that a range of the second IP family can be added.',
    ),
  }),
  status: s.struct('ServiceCIDRStatus', 'Most recently observed state of the ranges.', {
    conditions: s.listMap(
      Condition,
      'Latest observations of the state of the ranges. Ready is True while addresses can be allocated from them.',
      { keys: ['type'] },
    ),
  }),
};

export type ServiceCIDR = KubeObject & ObjectType<typeof fields>;

/** A range of addresses for Services. */
export const ServiceCIDR = defineKind({
  kind: 'ServiceCIDR',
  scope: 'Cluster',
  description:
    'A range of IP addresses, or one for each IP family, that the cluster IPs of Services are allocated from.',
  versions: { 'networking.k8s.io/v1': {} },
  fields,
  resetFields: { status: ['metadata'] },
  subresources: { status: true },
  rules: [
    ({ spec }, { oldRoot, subresource }) => {
      if (subresource === 'status') return [];
      return oldRoot ? updateRules(spec.cidrs, oldRoot.spec.cidrs) : createRules(spec.cidrs);
    },
  ],
  columns: ({ text }) => [name, text('CIDRs', 'The address ranges.', ({ spec }) => spec?.cidrs?.join(',') ?? ''), age],
});

const CIDRS_FIELD = 'spec.cidrs';

function createRules(cidrs: readonly string[] = []): FieldError[] {
  if (cidrs.length === 0) return [required(CIDRS_FIELD, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(CIDRS_FIELD, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const found = cidrs.flatMap((cidr, index) =>
    canonicalCidrProblems(cidr).map((problem) => invalid(`${CIDRS_FIELD}[${index}]`, cidr, problem)),
  );
  const [first, second] = cidrs.map((cidr) => ipFamily(cidr.split('/')[0]!));
  if (cidrs.length === 2 && first && first === second) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    found.push(invalid(CIDRS_FIELD, cidrs, detail));
  }
  return found;
}

/** Existing ranges are immutable; a range of the second IP family can be added. */
function updateRules(now: readonly string[] = [], then: readonly string[] = []): FieldError[] {
  const grows = then.length === 1 && now.length === 2;
  if (now.length !== then.length && !grows) return [invalid(CIDRS_FIELD, now, 'field is immutable')];
  const changed = then.flatMap((cidr, index) =>
    cidr === now[index] ? [] : [invalid(`${CIDRS_FIELD}[${index}]`, now[index], 'field is immutable')],
  );
  return grows ? [...changed, ...createRules(now)] : changed;
}
