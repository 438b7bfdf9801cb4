import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import type { NftTable } from '../../interfaces/nft-json.ts';
import { type PublishedPort, ruleset } from './rules.ts';

const table: NftTable = { family: 'ip', name: 'quarterdeck_test_pods' };
const rules = (ports: readonly PublishedPort[]) =>
  ruleset({ table, podCidr: '10.244.0.0/24', bridge: 'qd-test', ports, filtersBridge: true });
const port = (changes: object = {}): PublishedPort => ({
  ...({ protocol: 'TCP', hostPort: 8080, containerPort: 80, hostIP: undefined, address: '10.244.0.2' } as const),
  ...changes,
});

it('ports of pods on the node lead to the pod, at all addresses or at one', () => {
  const text = JSON.stringify(rules([port(), port({ hostPort: 8081, hostIP: '192.0.2.1' })]));
  expect(text).toContain('{"dnat":{"addr":"10.244.0.2","port":80}}');
  expect(text).toContain('"field":"daddr"}},"right":"192.0.2.1"');
});

it('ports of pods on the node are left out when something in them is not what it should be, and others are not', () => {
  const hostile = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom('1.2.3.4 }', '::', 'x"; flush ruleset', '1.2.3.4\0'),
  );
  const wrong = fc.oneof(
    hostile.filter((text) => text !== '0.0.0.0').map((hostIP) => port({ hostIP })),
    hostile.map((address) => port({ address })),
    hostile.map((protocol) => port({ protocol })),
    hostile.map((hostPort) => port({ hostPort })),
    fc.constantFrom(0, -1, 65_536, 1.5, Number.NaN).map((containerPort) => port({ containerPort })),
  );
  forAll(wrong, (each) => {
    expect(rules([each, port()])).toEqual(rules([port()]));
  });
});
