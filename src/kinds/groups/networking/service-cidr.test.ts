import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { ServiceCIDR } from './service-cidr.ts';

const ranges = (...cidrs: string[]) => ({ metadata: { name: 'more' }, spec: { cidrs } });
const FOUR = '10.1.0.0/16';
const SIX = '2001:db8::/64';

it.each<[string, string[], ...string[]]>([
  ['one range', [FOUR]],
  ['one of each family', [FOUR, SIX]],
  ['none', [], 'spec.cidrs: Required value: at least one CIDR required'],
  [
    'three',
    [FOUR, SIX, FOUR],
    `spec.cidrs: Invalid value: {"CIDRs":["${FOUR}","${SIX}","${FOUR}"]}: may only hold up to 2 values`,
  ],
  [
    'two of one family',
    [FOUR, '10.2.0.0/16'],
    `spec.cidrs: Invalid value: ["${FOUR}","10.2.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`,
  ],
  [
    'another way to write one',
    ['2001:DB8::/64'],
    'spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")',
  ],
])('a ServiceCIDR with %s is validated', (_what, cidrs, ...errors) => {
  expect(create(ServiceCIDR, ranges(...cidrs)).errors).toEqual(errors);
});

it.each<[string, string[], string[], string[]]>([
  ['stays', [FOUR], [FOUR], []],
  ['may get the other family', [FOUR], [FOUR, SIX], []],
  ['keeps what it has', [FOUR], ['10.2.0.0/16'], ['spec.cidrs[0]: Invalid value: "10.2.0.0/16": field is immutable']],
  [
    'gets no second of its family',
    [FOUR],
    [FOUR, '10.2.0.0/16'],
    [expect.stringContaining('may specify no more than one IP for each IP family')],
  ],
  ['loses none', [FOUR, SIX], [FOUR], [`spec.cidrs: Invalid value: ["${FOUR}"]: field is immutable`]],
])('a ServiceCIDR that exists %s', (_what, before, after, errors) => {
  const { object: old } = create(ServiceCIDR, ranges(...before));
  expect(update(ServiceCIDR, old, ranges(...after)).errors).toEqual(errors);
});

it('a ServiceCIDR can report that it is ready', () => {
  const { object: old } = create(ServiceCIDR, ranges(FOUR));
  const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '' }] };
  const { object, errors } = update(ServiceCIDR, old, { ...ranges(SIX), status }, { subresource: 'status' });
  expect(errors).toEqual([]);
  expect(object).toMatchObject({ spec: { cidrs: [FOUR] }, status });
});
