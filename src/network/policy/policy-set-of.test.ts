import { expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../test/support/divided-work.ts';
import { policyParts } from '../nftables/policy-parts.ts';
import { type PolicyWorld, policySetOf } from './policy-set-of.ts';

const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));

const pod = (index: number) => ({
  metadata: { name: `p${index}`, namespace: 'shop', labels: { app: `a${index % 10}` } },
  spec: { nodeName: 'here', containers: [{ ports: [{ name: 'http', containerPort: 8000 + index }] }] },
  status: { phase: 'Running', podIP: `10.1.0.${index + 1}` },
});

const world = (spec: object, pods = 20) =>
  ({
    policies: [{ metadata: { name: 'p', namespace: 'shop' }, spec: { podSelector: {}, ...spec } }],
    pods: listOf(pods, pod),
    namespaces: [{ metadata: { name: 'shop', labels: { name: 'shop' } } }],
    node: 'here',
  }) as unknown as PolicyWorld;

const peer = (index: number) => ({ podSelector: { matchLabels: { app: `a${index % 10}` } } });
const ALWAYS_SPENT = { isSpent: () => true };

it.each<[string, object]>([
  ['rules', { ingress: listOf(100, (index) => ({ from: [peer(index)] })) }],
  ['peers', { ingress: [{ from: listOf(100, peer) }] }],
  ['ports', { ingress: [{ ports: listOf(100, (index) => ({ port: index + 1, protocol: 'TCP' })) }] }],
  ['named ports', { policyTypes: ['Egress'], egress: [{ ports: listOf(100, () => ({ port: 'http' })) }] }],
])('a policy with many %s is evaluated in many turns, with the same outcome', (_, spec) => {
  const { value, turns } = countTurns(policySetOf(world(spec), ALWAYS_SPENT));
  expect(turns).toBeGreaterThan(100);
  expect(value).toEqual(atOnce(policySetOf(world(spec), NEVER_SPENT)));
});

it('a pod that several peers select is one address', () => {
  const spec = { ingress: [{ from: [peer(1), peer(1), { namespaceSelector: { matchLabels: { name: 'shop' } } }] }] };
  const [isolation] = atOnce(policySetOf(world(spec), NEVER_SPENT));
  expect(isolation?.allowances[0]?.peers?.pods).toHaveLength(20);
});

it('the peers of a policy are searched once for all pods that it isolates with others', () => {
  let asked = 0;
  const labels = new Proxy({} as Record<string, string>, {
    get: () => {
      asked++;
      return undefined;
    },
  });
  const scene = world({ ingress: [{ from: [{ podSelector: { matchLabels: { never: 'x' } } }] }] });
  const apart = listOf(10, (index) => ({
    metadata: { name: `own-${index}`, namespace: 'shop' },
    spec: { podSelector: { matchLabels: { app: `a${index}` } } },
  }));
  const policies = [...scene.policies, ...apart] as PolicyWorld['policies'];
  const elsewhere = { ...pod(99), metadata: { name: 'x', namespace: 'shop', labels }, spec: { nodeName: 'there' } };
  const pods = [...scene.pods, elsewhere] as unknown as PolicyWorld['pods'];
  expect(atOnce(policySetOf({ ...scene, policies, pods }, NEVER_SPENT))).toHaveLength(10);
  expect(asked).toBe(1);
});

it('all port numbers of a protocol are one match of a rule, without overlaps', () => {
  const numbers = [80, 443, 81, 8080, 8081];
  const ports = [
    ...numbers.map((port) => ({ port, protocol: 'TCP' })),
    { port: 8000, endPort: 8080, protocol: 'TCP' },
    { port: 53, protocol: 'UDP' },
  ];
  const from = listOf(50, (index) => ({ ipBlock: { cidr: `10.2.${index}.0/24` } }));
  const policies = atOnce(policySetOf(world({ ingress: [{ from, ports }] }), NEVER_SPENT));
  const chain = atOnce(policyParts(policies, NEVER_SPENT)).find(({ kind }) => kind === 'chain');
  const rules = chain?.kind === 'chain' ? chain.rules : [];
  expect(rules).toHaveLength(50 * 2 + 1);
  expect(rules[0]).toBe('ip saddr 10.2.0.0/24 meta l4proto tcp th dport { 80-81, 443, 8000-8081 } return');
  expect(rules[1]).toBe('ip saddr 10.2.0.0/24 meta l4proto udp th dport 53 return');
});

it('pods with an address of their node are neither isolated nor peers: they cannot be told from the node', () => {
  const shared = { ...pod(98), metadata: { name: 'x', namespace: 'shop', labels: { app: 'a1' } } };
  const status = { phase: 'Running', podIP: '192.0.2.1', hostIP: '192.0.2.1', hostIPs: [{ ip: '192.0.2.1' }] };
  const scene = world({ ingress: [{ from: [peer(1)] }] }, 2);
  const pods = [...scene.pods, { ...shared, status }] as unknown as PolicyWorld['pods'];
  const [isolation] = atOnce(policySetOf({ ...scene, pods }, NEVER_SPENT));
  expect(isolation).toMatchObject({ pods: ['10.1.0.1', '10.1.0.2'], allowances: [{ peers: { pods: ['10.1.0.2'] } }] });
});
