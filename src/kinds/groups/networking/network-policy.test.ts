import { expect, it } from 'vitest';
import { create } from '../../../../test/support/kinds/test-object.ts';
import { NetworkPolicy } from './network-policy.ts';

const policy = (spec: object) => ({ metadata: { name: 'p', namespace: 'n' }, spec });
const from = (...peers: object[]) => ({ ingress: [{ from: peers }] });
const ports = (...list: object[]) => ({ ingress: [{ ports: list }] });
const block = (cidr: string, ...except: string[]) => from({ ipBlock: { cidr, except } });
const everyone = { podSelector: {} };

it('a NetworkPolicy selects all pods and restricts ingress by default', () => {
  expect(create(NetworkPolicy, policy({})).object.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress'] });
});

it('a NetworkPolicy restricts egress if it has egress rules', () => {
  const { object } = create(NetworkPolicy, policy({ egress: [{ to: [everyone] }] }));
  expect(object.spec.policyTypes).toEqual(['Ingress', 'Egress']);
});

it('a NetworkPolicy tells no rule from an empty rule', () => {
  expect(create(NetworkPolicy, policy({ ingress: [] })).object.spec.ingress).toBeUndefined();
  expect(create(NetworkPolicy, policy({ ingress: [{}] })).object.spec.ingress).toEqual([{}]);
});

it('a NetworkPolicy defaults to TCP', () => {
  const { object, errors } = create(NetworkPolicy, policy(ports({ port: 80 }, { port: 'dns', protocol: 'UDP' }, {})));
  expect(errors).toEqual([]);
  expect(object.spec.ingress?.[0]?.ports).toEqual([
    { port: 80, protocol: 'TCP' },
    { port: 'dns', protocol: 'UDP' },
    { protocol: 'TCP' },
  ]);
});

it.each<[string, object, ...string[]]>([
  ['pods of other namespaces', from({ ...everyone, namespaceSelector: {} })],
  ['addresses with holes', block('10.0.0.0/8', '10.1.0.0/16', '10.2.3.4/32')],
  ['addresses of six', block('2001:db8::/32', '2001:db8:1::/48')],
  ['nobody', from({}), 'spec.ingress[0].from[0]: Required value: must specify a peer'],
  [
    'pods and addresses',
    from({ ...everyone, ipBlock: { cidr: '10.0.0.0/8' } }),
    'spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
  ],
  ['no addresses', from({ ipBlock: {} }), 'spec.ingress[0].from[0].ipBlock.cidr: Required value'],
  [
    'a range that is none',
    block('10.0.0.0', '10.0.0.0/9'),
    'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
  [
    'a hole elsewhere',
    block('10.0.0.0/8', '11.0.0.0/16', '10.0.0.0/8', '2001:db8::/48', 'x'),
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "2001:db8::/48": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[3]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
  [
    'a protocol of its own',
    ports({ protocol: 'ICMP' }),
    'spec.ingress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"',
  ],
  [
    'port nought',
    ports({ port: 0 }),
    'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
  ],
  ['a row of ports', ports({ port: 80, endPort: 90 })],
  [
    'a row that runs backwards',
    ports({ port: 80, endPort: 79 }),
    'spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`',
  ],
  [
    'a row that starts with a name',
    ports({ port: 'http', endPort: 90 }),
    'spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric',
  ],
  [
    'a row that starts nowhere',
    ports({ endPort: 90 }),
    'spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is not specified',
  ],
  [
    'a third direction',
    { policyTypes: ['Sideways'] },
    'spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"',
  ],
  [
    'three directions',
    { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
    'spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
  ],
])('a NetworkPolicy with %s is validated', (_what, spec, ...errors) => {
  expect(create(NetworkPolicy, policy(spec)).errors).toEqual(errors);
});
