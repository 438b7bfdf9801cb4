import { expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { Node } from './node.ts';

const metadata = { name: 'node-1' };
const node = (spec: object, status: object = {}) => ({ metadata, spec, status });

it('a Node shows what its agent has not said yet as empty', () => {
  const { object, errors } = create(Node, { metadata });
  expect(errors).toEqual([]);
  expect(object).toEqual({
    metadata,
    spec: {},
    status: {
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '',
        osImage: '',
        containerRuntimeVersion: '',
        kubeletVersion: '',
        kubeProxyVersion: '',
        operatingSystem: '',
        architecture: '',
      },
    },
  });
});

it('a Node brings its status along, and everything it has is for pods unless it says otherwise', () => {
  const { object } = create(Node, node({}, { capacity: { cpu: '4', memory: '1024Mi' } }));
  expect(object.status.allocatable).toEqual({ cpu: '4', memory: '1Gi' });
  expect(object.status.allocatable).not.toBe(object.status.capacity);
});

it.each([
  ['the older form', { podCIDR: '10.1.0.0/24' }, '10.1.0.0/24', ['10.1.0.0/24']],
  ['the newer form', { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }, '10.1.0.0/24', ['10.1.0.0/24', 'fd00::/64']],
  ['an older client', { podCIDR: '10.2.0.0/24', podCIDRs: ['10.1.0.0/24'] }, '10.2.0.0/24', ['10.2.0.0/24']],
])('a Node has its ranges in both forms, given by %s', (_what, spec, podCIDR, podCIDRs) => {
  expect(create(Node, node(spec)).object.spec).toEqual({ podCIDR, podCIDRs });
});

it('a Node can be found by whether it takes pods', () => {
  const unschedulable = (spec: object) => Node.selectable?.['spec.unschedulable']?.(create(Node, node(spec)).object);
  expect(unschedulable({ unschedulable: true })).toBe('true');
  expect(unschedulable({ unschedulable: false })).toBe('false');
});

it('a Node takes no configuration from a ConfigMap any more', () => {
  const configMap = { namespace: 'n', name: 'c', kubeletConfigKey: 'k' };
  const { object, errors } = create(Node, node({ configSource: { configMap } }, { config: { error: 'x' } }));
  expect(errors).toEqual([]);
  expect(object.spec).not.toHaveProperty('configSource');
  expect(object.status).not.toHaveProperty('config');
});

it('a Node leaves the addresses of its pods behind when it is exported', () => {
  const { object } = create(Node, node({ unschedulable: true, podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] }));
  Node.onExport?.(object, true);
  expect(object.spec.podCIDR).toBe('10.0.0.0/24');
  Node.onExport?.(object, false);
  expect(object.spec).toEqual({ unschedulable: true });
});

const taint = { key: 'a', effect: 'NoSchedule' };
it.each<[string, object, ...string[]]>([
  ['taints', node({ taints: [taint, { ...taint, effect: 'NoExecute', value: 'x' }] })],
  [
    'an unknown effect',
    node({ taints: [{ ...taint, effect: 'X' }] }),
    'spec.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  ['a taint without effect', node({ taints: [{ key: 'a' }] }), 'spec.taints[0].effect: Required value'],
  [
    'a taint twice',
    node({ taints: [taint, { ...taint, value: 'x' }] }),
    'spec.taints[1]: Duplicate value: {"key":"a","effect":"NoSchedule","value":"x"}: taints must be unique by key and effect pair',
  ],
  [
    'a range that is none',
    node({ podCIDR: 'x' }),
    'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
  [
    'two ranges of one family',
    node({ podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] }),
    'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family',
  ],
  [
    'less than nothing',
    node({}, { capacity: { cpu: '-1' }, allocatable: { cpu: '1' } }),
    'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    'features in disorder',
    node({}, { declaredFeatures: ['B', 'A', 'A'] }),
    'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
    'status.declaredFeatures[2]: Duplicate value: "A"',
  ],
])('a Node with %s is judged', (_what, input, ...errors) => {
  expect(create(Node, input).errors).toEqual(errors);
});

it.each<[string, object, object, string[]]>([
  ['may be given its ranges', {}, { podCIDR: '10.1.0.0/24' }, []],
  [
    'keeps its ranges',
    { podCIDR: '10.1.0.0/24' },
    {},
    ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
  ],
  [
    'keeps what the cloud calls it',
    { providerID: 'a' },
    { providerID: 'b' },
    ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
  ],
  ['keeps its old name', {}, { externalID: 'a' }, ['spec.externalID: Forbidden: may not be updated']],
])('a Node that exists %s', (_what, before, after, errors) => {
  const { object: old } = create(Node, node(before));
  expect(update(Node, old, node(after)).errors).toEqual(errors);
});

it('a Node has no address twice', () => {
  const { object: old } = create(Node, node({}));
  const address = { type: 'InternalIP', address: '10.0.0.1' };
  const sent = node({}, { addresses: [address, { ...address, type: 'Hostname' }, address] });
  expect(update(Node, old, sent, { subresource: 'status' }).errors).toEqual([
    'status.addresses[2]: Duplicate value: {"type":"InternalIP","address":"10.0.0.1"}',
  ]);
});
